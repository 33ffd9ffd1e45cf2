// Starting `traceback collect` for a process that is about to end.
#pragma once

namespace traceback::inject {

// At the start: whether standard error is ours to write to must be known before the program closes it.
void rememberStandardError();

// Runs the collector and waits for it. On failure says on standard error how to recover.
void runCollector();

}  // namespace traceback::inject
