// Small files and folders, by raw system calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace traceback::inject {

bool isFolder(const char* path);
// A descriptor of a folder that is no link, or -1.
int openFolder(const char* path);
// Removes the files in a folder.
void emptyFolder(int folder);
// Reads a small file, zero-terminates it and returns its size; 0 if it cannot be read.
std::size_t readFile(const char* path, char* to, std::size_t size);
// Writes memory to the front of a file.
bool copyMapping(int file, std::uint64_t from, std::uint64_t size);
// Whether the process may make a file so large. Trying would end it: that is what SIGXFSZ does.
bool mayMakeFile(std::uint64_t size);
// The path of the file that is mapped at an address of this process; empty if there is none.
void mappedFile(std::uint64_t address, char* to, std::size_t size);
// Field 22 of /proc/self/stat; 0 if it cannot be read.
std::uint64_t processStart();

}  // namespace traceback::inject
