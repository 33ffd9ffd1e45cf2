// New unwind tables for a file whose functions were copied: everything the old tables said of the original
// code, and the same of the copies.
//
// A copy is described by fragments, contiguous in the new code, of pieces, one for each instruction. What
// holds at an original instruction (how to find the caller's frame, which exceptions are caught where) holds
// in all of its piece: at the probe in front of it, and at whatever it became.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "instrument/unwind/eh_frame.h"
#include "loader/elf/elf_image.h"
#include "model/error.h"
#include "model/ids.h"

namespace traceback::instrument {

struct Piece {
  model::VirtAddr original;
  std::uint32_t originalSize = 0;  // of the instruction
  std::uint64_t copy = 0;          // link-time address
  std::uint32_t copySize = 0;      // everything that stands for it; may be 0
};

struct Fragment {
  std::uint32_t fde = 0;      // index into EhFrame::fdes; all originals lie in it
  std::vector<Piece> pieces;  // by rising copy address, without overlaps; originals in any order
};

// Fragments are asked for by number, some more than once, so that not all have to be there at the same time.
struct Fragments {
  std::size_t count = 0;
  std::function<Fragment(std::size_t number)> at;
};

// Where the copy of a landing pad is; nothing if there is none. May also answer the original's address.
using LandingPads = std::function<std::optional<std::uint64_t>(model::VirtAddr original)>;

enum class UnwindRefusal : std::uint8_t { BadUnwindInfo, BadExceptionTable };
struct Refusal {
  UnwindRefusal kind = UnwindRefusal::BadUnwindInfo;
  std::string reason;
};

// Whether buildUnwindTables can serve a copy of this function. `instructions` are the starts of all its
// instructions, sorted: nothing may begin to hold in the middle of one, and landing pads within the function
// must be instructions of it. Empty: this is not checked here, and buildUnwindTables fails on it.
std::expected<void, Refusal> canCarry(const loader::ElfImage& image, const EhFrame& frame, std::uint32_t fde,
                                      std::span<const model::VirtAddr> instructions = {});

// Whether the tables of this file can be moved at all.
model::Result<void> canMove(const loader::ElfImage& image, const EhFrame& frame);

struct UnwindTable {
  model::VirtAddr address;
  std::vector<std::byte> bytes;
};

// To be loaded read-only, at these addresses.
struct UnwindTables {
  UnwindTable header;      // .eh_frame_hdr, with a search table of all functions, old and new
  UnwindTable exceptions;  // .gcc_except_table of the copies; may be empty
  UnwindTable frame;       // .eh_frame, all old entries first, with a terminator

  // Where the last of them ends.
  std::uint64_t end() const { return frame.address.value + frame.bytes.size(); }
};

// Code that is called and leaves the stack pointer alone until it returns.
struct LeafCode {
  model::VirtAddr start;
  std::uint64_t size = 0;  // 0: there is none
};

// Lays the tables out one behind the other from `base` on, rounded up to 8. How large they are does not
// depend on `base`. Fragments must not overlap each other. Fails on what canCarry and canMove refuse, on a
// landing pad without a copy, and on distances that the original's encodings cannot express.
model::Result<UnwindTables> buildUnwindTables(const loader::ElfImage& image, const EhFrame& frame,
                                              const Fragments& fragments, const LandingPads& landingPads,
                                              const LeafCode& leaf, model::VirtAddr base);
model::Result<UnwindTables> buildUnwindTables(const loader::ElfImage& image, const EhFrame& frame,
                                              std::span<const Fragment> fragments,
                                              const LandingPads& landingPads, model::VirtAddr base);

}  // namespace traceback::instrument
