// Maps for tests, from text:
//
//     function main 1000        a function's name ("-": none) and original address, hexadecimal
//     dag                       the blocks that follow are a DAG; the first is its head
//     a 8 branch c b            a block: name, bytes of original code, how it ends, successors
//     b 4 fall c bit=0
//     c 4 call 2000 d bit=1     calls 2000 and returns to d
//     dag
//     d 4 return returnpoint
//
// is a map of version 1. With `version 2` in front, bits are those of branches, `taken` says that the taken
// edge sets it, and what follows a `dag` may be part of other DAGs too, as far as edges lead there. DAGs then
// get codes for the bits of what follows them, or for those of `dag BITS`.
//
// With `version 3`, `pass0` and `pass1` say that the edge to that successor passes its probe; with `version
// 4`, `into` that a call or tail jump passes the probe of its target's entry; with `version 5` and a bit, of
// the function at `own=ADDRESS`.
//
// A block ends by one of: fall X, jump X, branch TAKEN NEXT ("-": leaves the function), multi, call TARGET X,
// icall X, tail TARGET, away, return, trap. Options: bit=N, entry, returnpoint, pad, loop, table, at=ADDRESS.
// Blocks lie one behind the other from the function's start on unless `at` says otherwise; a function's first
// has the flag entry. `#` begins a comment. A DAG gets the codes that its bits need, from 0 of the module on.
//
// The copy of a function lies 0x100000 above it, of a block behind the other; a head or a block with a bit
// has a probe of 16 bytes before it, which in the address table stands for the block's first instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/format/map.h"
#include "runtime/format/module.h"

namespace traceback::tests {

class MapText {
 public:
  static constexpr std::uint64_t kProbeSize = 16;
  static constexpr std::uint64_t kPassingSize = 2;  // of a jump over a probe

  // Text that cannot be read ends the test program with a message that names the line.
  explicit MapText(std::string_view text);

  std::vector<std::byte> bytes() const;
  std::array<std::uint8_t, 16> id() const;
  std::uint32_t codeSpan() const { return m_codeSpan; }

  // The code of "main.a", from the module's base; a is a head.
  std::uint32_t headCode(std::string_view block) const;
  // The path bit of "main.b".
  std::uint32_t bitOf(std::string_view block) const;
  // The link-time address in the copy of "main.b+2", or, of "main.b-probe", of the block's probe.
  std::uint64_t copyOf(std::string_view place) const;
  // The function of "main.b", up to the dot.
  static std::string_view functionOf(std::string_view block) { return block.substr(0, block.rfind('.')); }

 private:
  struct Block {
    std::string name;  // "main.b"
    format::BlockEntry entry{};
    std::string successors[2];
    std::uint32_t own = 0;  // that a call by a slot leads into
    std::uint64_t copy = 0;  // of its first instruction
    bool hasProbe = false;
  };
  struct Dag {
    format::DagEntry entry{};
  };
  struct Function {
    std::string name;
    format::FunctionEntry entry{};
    std::uint32_t left = 0;  // bytes, if it was left alone
    std::vector<Dag> dags;
    std::vector<Block> blocks;
    std::vector<format::AddressEntry> addresses;
  };

  void readBlock(const std::vector<std::string>& words, const std::string& line);
  void finish();
  const Block& block(std::string_view name) const;

  std::vector<Function> m_functions;
  std::uint32_t m_version = 1;
  std::uint32_t m_codeSpan = 0;
};

}  // namespace traceback::tests
