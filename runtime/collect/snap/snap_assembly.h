// Putting a snap together from a process's folder and, if it lives, from the process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/error.h"
#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/service/service_message.h"
#include "runtime/collect/snap/memory_reader.h"
#include "runtime/collect/snap/process_reader.h"
#include "runtime/format/snap.h"

namespace traceback::collect {

struct SnapContents {
  ProcessFolder folder;
  std::vector<ThreadSnapshot> threads;  // of a living process
  std::string maps;                     // the text of /proc/PID/maps; empty for a dead one
  ProcessMemory memory;
  format::SnapReason reason = format::SnapReason::UserRequest;
  std::optional<pid_t> livingProcess;
  pid_t occasionTid = 0;  // of the thread that had a process snapped which goes on; 0 if none
  std::string occasion;   // why, in words
  std::string note;  // what could not be had; empty if nothing
  std::uint32_t redaction = 0;  // Redaction (site_rules.h); of memory, that was done when it was read
  std::optional<GroupEvent> group;  // with which it is snapped
  std::uint64_t tsc = 0;
  std::uint64_t realtimeNs = 0;
};

// PROGRAM-PID-TIME
std::string snapBaseName(const std::string& program, std::uint32_t pid, std::uint64_t realtimeNs);

// The reason that the process file itself tells: a fault, an abort, or that the process was killed.
format::SnapReason reasonOf(const format::ProcessHeader& header);

// Where a snap goes, and with whose rights it is written.
struct SnapPlace {
  std::filesystem::path folder;
  uid_t user = 0;
};
// As asked, else as the process was told, else the default. To root the word of another user's folder holds
// as far as that user's rights go, and of root's own processes that of the link (process.h).
SnapPlace snapPlaceFor(const std::filesystem::path& asked, const std::filesystem::path& rootsSnaps,
                       uid_t owner, const format::ProcessHeader& header);
// The same, of a folder that was not opened: the folder alone.
std::filesystem::path snapFolderFor(const std::filesystem::path& asked,
                                    const std::filesystem::path& processFolder,
                                    const format::ProcessHeader& header);

// A module whose map is missing costs only its map: the section Host says so. To be called with the rights
// with which the snap is written; the files that the process names are read with those of its folder's owner.
model::Result<std::filesystem::path> writeSnap(const SnapContents& contents,
                                               const std::filesystem::path& snapFolder);

}  // namespace traceback::collect
