// The list of a process's mappings, /proc/PID/maps, with the originals' names in the places of the copies'.
// Programs look there for where their libraries are, and for their own parts beside those.
#pragma once

namespace traceback::inject {

// A descriptor of it in memory, at its start; negative if it cannot be made. As it is now: of one that stays
// open, the kernel's own would tell what comes later, too.
long makeOwnMaps();

}  // namespace traceback::inject
