// Room for one program header more, where no spare one can be had.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "instrument/elf/elf_plan.h"

namespace traceback::instrument {

// What has to move so that the table can grow in place, or why it cannot.
std::expected<std::vector<MovedStretch>, std::string> makeRoomForHeader(const loader::ElfImage& image);

}  // namespace traceback::instrument
