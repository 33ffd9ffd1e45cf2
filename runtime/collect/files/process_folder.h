// A traced process's folder (runtime/format/process.h) as read from outside.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/error.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/format/process.h"
#include "runtime/format/ring.h"

namespace traceback::collect {

struct RingFile {
  std::string name;
  Bytes bytes;
  // The header, or nothing if the file is too short for one or is no ring.
  std::optional<format::RingHeader> header() const;
};

struct ProcessFolder {
  std::filesystem::path path;
  uid_t owner = 0;  // whose word all of this is; a process that was root's may be another user's by now
  // rootsSnapsOf() it; read with the rest, for a process that ends removes it.
  std::filesystem::path rootsSnaps;
  format::ProcessHeader header;
  std::vector<format::ProcessModule> modules;
  std::vector<format::ThrownText> thrown;  // by time
  std::vector<RingFile> rings;  // in the order of their names
};

// Where snaps of a process go that was root's when it began, whoever it is now (process.h); else empty.
std::filesystem::path rootsSnapsOf(const std::filesystem::path& processFolder);

// The name of a folder: PID-START.
struct ProcessName {
  pid_t pid = 0;
  std::uint64_t start = 0;
};
std::optional<ProcessName> parseProcessName(const std::string& name);

// The folder itself: no link, and the caller's own if that is not root.
struct OpenFolder {
  std::filesystem::path path;
  SystemFile file;
  uid_t owner = 0;
};
model::Result<OpenFolder> openProcessFolder(const std::filesystem::path& path);

// Fails if the process file is missing, is none, or is cut. Root reads another user's with that user's
// rights.
model::Result<ProcessFolder> readProcessFolder(const OpenFolder& folder);

// Of a process that could not give its process file any size (a limit, a full disk), and so recorded nothing.
bool wasNeverWritten(const OpenFolder& folder);

// The header of a folder's process file alone; nothing if there is none, or it is of another version.
std::optional<format::ProcessHeader> readProcessHeader(const std::filesystem::path& folder);

// What a process is called: the last part of the path that the user named, or of its first module's.
std::string programName(const ProcessFolder& folder);
// The same, of a folder whose rings need not be read.
std::string programNameIn(const std::filesystem::path& folder);

// Says in the process file that the snap was written: there is nothing to be recovered.
void markSnapped(const std::filesystem::path& folder);

// The fields of /proc/PID/stat, numbered as proc(5) has them, from this one on; none if it cannot be read.
inline constexpr std::size_t kFirstStatField = 3;
std::vector<std::string> statFields(pid_t pid);

// The user who started a process, whose rights it has, and whose it may take again; none if it is gone.
std::vector<uid_t> usersOf(pid_t pid);

// Field 22 of /proc/PID/stat, or nothing if there is no such process, or only its remains (a zombie).
std::optional<std::uint64_t> startOfProcess(pid_t pid);

// That a process and its threads took, in programs and in the kernel; or nothing if there is none.
std::optional<std::chrono::milliseconds> processorTimeOf(pid_t pid);

// Removes the folder and the files in it; of another user, with that user's rights.
void removeFolder(const OpenFolder& folder);
// The same, if there is such a folder.
void removeFolder(const std::filesystem::path& path);

std::string textField(const std::uint8_t* bytes, std::size_t size);

}  // namespace traceback::collect
