// Room for more program headers, where no spare ones can be had.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "instrument/elf/elf_plan.h"

namespace traceback::instrument {

// What has to move so that the table can grow in place by so many, or why it cannot.
std::expected<std::vector<MovedStretch>, std::string> makeRoomForHeaders(const loader::ElfImage& image,
                                                                         std::size_t count);

}  // namespace traceback::instrument
