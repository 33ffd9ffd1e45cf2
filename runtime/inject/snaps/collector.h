// Starting `traceback collect` for a process that is about to end, or that goes on.
#pragma once

namespace traceback::inject {

// At the start: whether standard error is ours to write to must be known before the program closes it.
void rememberStandardError();

// Why a process that goes on is snapped.
struct Occasion {
  const char* kind;  // "call", "exception", "exit", "report"
  const char* text;  // more of it; may be empty
};

// Runs the collector and waits for it. At a fault, failure is told on standard error, and how to recover.
// Calls from several threads wait for each other. Signals must be blocked.
void runCollectorAtFault();
// True if the snap was written.
bool runCollector(const Occasion& occasion);

// Has somebody outside watch this process, if the policy wants to have it snapped when threads do not get on
// (hangs, stalls, waits), once in a process. Signals must be blocked.
void startWatcher();

}  // namespace traceback::inject
