// What the subcommands share: how they add themselves to the command line, and how they end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/error.h"

namespace CLI {
class App;
}

namespace traceback::app {

// Exit statuses, the same for every subcommand. (`run` ends as the program does, or as a shell
// that cannot execute it.)
inline constexpr int kDone = 0;
inline constexpr int kBadInput = 1;  // a file, a process or the machine is at fault
inline constexpr int kBadCall = 2;   // the command line is

// Runs the subcommand that was named, after parsing; gives the exit status.
using Action = std::function<int()>;

// Each adds its subcommand to `app`, and sets `chosen` when the command line names it.
void addInstrument(CLI::App& app, Action& chosen);
void addPlan(CLI::App& app, Action& chosen);
void addRun(CLI::App& app, Action& chosen, const std::vector<std::string>& words);
void addSnap(CLI::App& app, Action& chosen);
void addRecover(CLI::App& app, Action& chosen);
void addServices(CLI::App& app, Action& chosen);
void addPrint(CLI::App& app, Action& chosen);
void addProfile(CLI::App& app, Action& chosen, const std::vector<std::string>& words);
void addQuery(CLI::App& app, Action& chosen);
void addCompare(CLI::App& app, Action& chosen);
void addExport(CLI::App& app, Action& chosen);
void addInfo(CLI::App& app, Action& chosen);
void addView(CLI::App& app, Action& chosen);
void addDoctor(CLI::App& app, Action& chosen);
void addPrepare(CLI::App& app, Action& chosen);  // hidden: processes of a run start it
void addCopy(CLI::App& app, Action& chosen);  // hidden: the same, for each file
void addRenew(CLI::App& app, Action& chosen);  // hidden: `run` starts it
void addCompleteWords(CLI::App& app, Action& chosen);  // hidden: shells ask it
void addCollect(CLI::App& app, Action& chosen);  // hidden: the runtime starts it
void addWatch(CLI::App& app, Action& chosen);  // hidden: the same

// Cuts the program and its arguments off the arguments of `run`, so that their options are not taken for
// ours: all behind `--`, or from the first on that is no option of `run`.
std::vector<std::string> takeProgramWords(std::vector<std::string>& arguments);
// The same of a command that wants `--` in front of them.
std::vector<std::string> takeWordsBehindDashes(std::vector<std::string>& arguments);

// One line on standard error; gives the status to end with.
int complain(const model::Error& error);
int complainAboutCall(const std::string& message);

}  // namespace traceback::app
