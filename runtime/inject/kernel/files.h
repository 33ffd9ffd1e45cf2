// Small files and folders, by raw system calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

bool isFolder(const char* path);
// What is up to the last slash of a path, with that.
Path& addFolderOf(const Path& file, Path& to);
// A descriptor of a folder that is no link, or -1.
int openFolder(const char* path);
// What getdents64 fills in.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t next;
  std::uint16_t size;
  std::uint8_t type;
  char name[1];  // and on, zero-terminated
};
// Calls `visit` with the name of each file in a folder; of files that come or go meanwhile, perhaps.
template <typename Visit>
void forEachFile(int folder, Visit visit) {
  alignas(8) char buffer[2048];
  systemCall(__NR_lseek, folder, 0, 0 /* SEEK_SET */);
  for (;;) {
    const long size = systemCall(__NR_getdents64, folder, asLong(buffer), sizeof buffer);
    if (failed(size) || size == 0) return;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
      if (strcmp(entry->name, ".") != 0 && strcmp(entry->name, "..") != 0) visit(entry->name);
      at += entry->size;
    }
  }
}
// Removes the files in a folder.
void emptyFolder(int folder);
// Reads a small file, zero-terminates it and returns its size; 0 if it cannot be read.
std::size_t readFile(const char* path, char* to, std::size_t size);
// Writes memory to a file, at its front or where `at` says.
bool copyMapping(int file, std::uint64_t from, std::uint64_t size, std::uint64_t at = 0);
// Whether the process may make a file so large. Trying would end it: that is what SIGXFSZ does.
bool mayMakeFile(std::uint64_t size);
// Whether there is memory at all of these addresses, whosever it is.
bool isMapped(const void* start, std::uint64_t size);
// The path of the file that is mapped from `start` to `end` in this process, or, if that is no mapping as it
// is, at `start`; empty if there is none. The latter reads all mappings up to there.
void mappedFile(std::uint64_t start, std::uint64_t end, char* to, std::size_t size);
// Field 22 of /proc/self/stat; 0 if it cannot be read.
std::uint64_t processStart();
// The calling process's number where /proc is of; 0 if it is not in there.
std::uint64_t pidInProc();
// Of /proc/self/ns/pid; 0 if there is none.
std::uint64_t pidNamespaceInode();

}  // namespace traceback::inject
