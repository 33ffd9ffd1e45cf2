// The policy that holds in this process, read from its file (policy.h).
#pragma once

#include "runtime/inject/snaps/policy.h"

namespace traceback::inject {

// TRACEBACK_POLICY's file, else $XDG_CONFIG_HOME/traceback/policy, ~/.config/traceback/policy or
// /etc/traceback/policy, the first that is there. Once at the start.
void loadPolicy();
// Again, if the file has changed. What concerns signals and buffers stays as it was at the start. Call with
// signals blocked, by one thread at a time.
void reloadPolicy();

const Policy& policy();

}  // namespace traceback::inject
