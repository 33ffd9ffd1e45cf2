// The starter (runtime/format/starter.h), put into the new segment of a program.
#pragma once

#include <string>

#include "instrument/elf/elf_plan.h"
#include "instrument/elf/elf_writer.h"
#include "instrument/new_segment.h"

namespace traceback::instrument {

// How many bytes the starter needs behind the ModuleSlots.
inline constexpr std::uint64_t kStarterSlotSize = sizeof(std::uint64_t);

// Whether this can be the path of a runtime: absolute, no longer than the header holds, and none that the
// dynamic linker would take for several.
bool canBeRuntime(const std::string& path);

// Appends it. The layout must have been planned with room for the ModuleSlots and kStarterSlotSize.
Preinit addStarter(const loader::ElfImage& image, const ElfPlan& layout, const std::string& runtime,
                   NewSegment& segment);

}  // namespace traceback::instrument
