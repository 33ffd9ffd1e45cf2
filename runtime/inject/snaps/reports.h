#pragma once

namespace traceback::inject {

// Learns of the ends that sanitizers make of the process, past exit() and _exit(). Once, at the start.
void watchSanitizers();

}  // namespace traceback::inject
