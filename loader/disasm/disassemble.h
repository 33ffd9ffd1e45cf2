// x86-64 code as text for people, by Capstone. (The instrumentor decides by another library: this one is not
// exact enough about registers to rewrite by, but reads well.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loader/byte_reader.h"
#include "model/ids.h"

namespace traceback::loader {

struct Instruction {
  model::VirtAddr address;
  std::uint8_t size = 0;
  std::string bytes;                      // "48 89 e5"
  std::string mnemonic;                   // "(bad)" for a byte that begins no instruction; it stands alone
  std::string operands;
  std::optional<model::VirtAddr> target;  // where a direct jump or call goes
};

enum class Syntax : std::uint8_t { Att, Intel };

// At most `limit` instructions from `address` on, whose bytes begin with the first of `code`. An instruction
// of which the last bytes are not there is as bad as one that does not exist. Thread-safe.
std::vector<Instruction> disassemble(Bytes code, model::VirtAddr address, std::size_t limit,
                                     Syntax syntax = Syntax::Att);

}  // namespace traceback::loader
