// What became of a function, or would: in words and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "instrument/instrument.h"
#include "loader/elf/elf_image.h"

namespace traceback::app {

// All functions by rising address: what was done if the file is instrumented, what would be done if it is
// not.
model::Result<std::vector<instrument::FunctionFate>> fatesIn(const loader::ElfImage& image);

// The functions that are meant by an address (0x...: the one that has it) or by a name, as linked or as
// people write it, with or without parameters.
std::vector<const instrument::FunctionFate*> fatesOf(const std::vector<instrument::FunctionFate>& fates,
                                                     std::string_view nameOrAddress);

// On standard output, a line each. JSON: {"function":"...","address":"0x...","size":N,"traced":true,
// "entered_directly_only":false,"reason":null or "...","why":null or "..."}
void printFate(const instrument::FunctionFate& fate, bool json);

// Why there is none that is meant.
std::string whyNoFunction(const loader::ElfImage& image, std::string_view nameOrAddress);

}  // namespace traceback::app
