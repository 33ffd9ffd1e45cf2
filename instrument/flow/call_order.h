// Which calls may lead behind the probe of another function's entry, so that the record goes on there; and in
// what order the functions are tiled for that.
#pragma once

#include <cstdint>
#include <vector>

#include "instrument/analysis/own_slots.h"

namespace traceback::instrument {

// Numbers of functions; those of one wave do not depend on each other.
using Waves = std::vector<std::vector<std::uint32_t>>;

// Sets Block::callee of direct calls and jumps to the starts of functions that are copied, and of those by
// stubs whose slots are among `slots`, where r11 and the flags are free for a comparison. And Block::mayPass,
// unless the way back from there leads to the same function: no record passes an entry twice. If `pass` is
// false, of none.
// Returns all functions that are copied, each behind those that its calls may pass into. `keepCursor`:
// whether functions keep it that can. `threads` as forEachIndex() has it.
Waves findPassableEntries(Program& program, const OwnSlots& slots, bool pass, bool keepCursor,
                          unsigned threads = 0);

}  // namespace traceback::instrument
