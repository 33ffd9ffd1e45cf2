// Making snaps from outside the traced process: of a living one, of one that is at a fault, of dead ones.
//
// All functions may be called from any thread; none keeps state. A snap is written beside its name and
// renamed, so that a failure leaves nothing behind. Its name is PROGRAM-PID-TIME.tbsnap, TIME being local
// as YYYYMMDDTHHMMSS; a name that is taken gets "-2", "-3" and so on before the suffix. What the site's rules
// (site_rules.h) say of redaction and of faults that come again holds for all of them.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/error.h"
#include "runtime/collect/service/service_message.h"
#include "runtime/format/process.h"
#include "runtime/format/snap.h"

namespace traceback::collect {

// Snaps that the process's policy does not want to keep, beside a new one.
struct SnapLimits {
  std::uint64_t diskLimit = 0;  // bytes of all in the folder; 0: none
  std::uint64_t keepSeconds = 0;  // since they were written; 0: for ever
};

struct SnapOptions {
  std::filesystem::path snapFolder;  // empty: where the process was told to put it, else defaultSnapFolder()
  std::filesystem::path ringFolder;  // empty: defaultRingFolder()
  std::optional<format::KeptMemory> keptMemory;  // nothing: as the process was told
  format::SnapReason reason = format::SnapReason::UserRequest;
  pid_t occasionTid = 0;  // of the thread that is the reason; 0: none
  std::string occasion = {};  // why, in words; may be empty
  SnapLimits limits = {};
  std::optional<GroupEvent> group = {};  // with which it is snapped
  bool evenRunning =
      false;  // where it may not be stopped: its rings as they are, without registers and memory
};

struct FaultOptions {
  std::filesystem::path processFolder;  // the process's own folder (process.h), named by the runtime
  std::filesystem::path snapFolder;  // as in SnapOptions
  SnapLimits limits;
};

// Why a process that goes on is snapped.
enum class Occasion { Call, Exception, Exit, Report };
// By the names that the runtime gives them; of another one, Call.
Occasion occasionOf(std::string_view name);

struct OccasionOptions {
  std::filesystem::path processFolder;
  std::filesystem::path snapFolder;
  SnapLimits limits;
  Occasion occasion = Occasion::Call;
  std::string
      text;  // what the program said, the exception's class, the exit status, what a sanitizer reported
};

struct RecoverOptions {
  // A ring folder or one process's folder; empty: defaultRingFolder() and, of root, foldersOfFormerRoot()
  // (files/former_root.h), whose snaps go to snapFolder or root's default one.
  std::filesystem::path folder;
  std::filesystem::path snapFolder;  // as in SnapOptions
  // Nothing is made of a fault that the site's rules want no more snaps of; the folder goes all the same.
  bool countFaults = false;
  SnapLimits limits = {};
  std::optional<GroupEvent> group = {};  // with which it is snapped
  // Called for each dead process whose rings could not be turned into a snap (they stay where they are).
  std::function<void(const model::Error&)> onProblem;
};

// Stops every thread of a traced process for as long as it takes to read it, and lets all go on.
model::Result<std::filesystem::path> snapProcess(pid_t pid, const SnapOptions& options);

// What `traceback collect --pid PID --tid TID --folder DIR` does. The runtime starts that as a child of a
// process whose thread TID met a fatal signal, and waits for it; 0 as exit status tells it that the snap
// was written, or that there were enough of this fault: then there is no path. The process file says so too.
model::Result<std::optional<std::filesystem::path>> collectFault(pid_t pid, pid_t tid,
                                                                 const FaultOptions& options);

// What `traceback collect --occasion` does: as above, for a process that goes on when the runtime's thread
// TID has waited for it.
model::Result<std::filesystem::path> collectOccasion(pid_t pid, pid_t tid, const OccasionOptions& options);

// "threw std::out_of_range", as the snap and a message have it.
std::string describe(Occasion occasion, const std::string& text);

// Makes a snap of every dead process that left its folder in the ring folder, then removes the folder. The
// folder of a living process is left alone; of one that ended by itself, or whose snap was already
// written, only the folder is removed. Fails if the folder cannot be read, or if nothing at all could be
// recovered because of a problem.
model::Result<std::vector<std::filesystem::path>> recover(const RecoverOptions& options);

// Whether the site's rules want another snap of the fault of which this folder of a dead process tells.
bool wantsFault(const std::filesystem::path& processFolder, const std::filesystem::path& snapFolder);

}  // namespace traceback::collect
