// The exception table of a function (.gcc_except_table), as GCC, Clang and rustc write it for the
// personalities of C, C++, Rust, Ada, D and Objective-C:
//
//   landing pad base     encoding, pointer if not omitted (else pads are relative to the function's start)
//   type table           encoding, uleb distance from behind itself to the table's *end*, if not omitted
//   call sites           encoding, uleb size, { start, length, landing pad, uleb action }...
//   actions              { sleb filter, sleb distance to the next }...   an action is its offset plus one
//   types                entry n lies n entries before the end; filter n > 0 means entry n
//   specifications       behind that end, at offset -filter - 1: uleb entry numbers, then 0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "instrument/unwind/eh_frame.h"
#include "instrument/unwind/pointer_encoding.h"
#include "loader/elf/elf_image.h"
#include "model/error.h"
#include "model/ids.h"

namespace traceback::instrument {

struct CallSite {
  model::VirtAddr start;
  std::uint64_t length = 0;
  model::VirtAddr landingPad;  // 0: none
  std::uint64_t action = 0;    // 0: none, else an offset into the actions plus one

  bool contains(model::VirtAddr address) const {
    return address >= start && address.value - start.value < length;
  }
  friend bool operator==(const CallSite&, const CallSite&) = default;
};

// Refers to the table's bytes, which must outlive it.
struct Lsda {
  model::VirtAddr address;
  std::vector<CallSite> callSites;     // sorted, without overlaps
  std::span<const std::byte> actions;  // as far as the call sites lead into them
  std::uint8_t typeEncoding = kPointerOmitted;
  std::vector<EncodedPointer> types;          // filter 1 first, as far as the actions lead into them
  std::span<const std::byte> specifications;  // as far as the actions lead into them
  model::VirtAddr end;                        // behind all of these
};

// Reads the exception table at `address`, of which `bytes` is all that is loaded from there on, for the
// function (FDE) at `start` of `size` bytes. Refuses what could not be carried over to a copy: call sites
// that are out of order or outside of the function, chains that loop or leave the table, encodings that are
// not known.
model::Result<Lsda> parseLsda(std::span<const std::byte> bytes, model::VirtAddr address,
                              model::VirtAddr start, std::uint64_t size);

// Where its call sites lead: each may be entered.
std::vector<model::VirtAddr> landingPads(const Lsda& lsda);
// The same of a table that cannot be read to its end, as far as it can. (Basic blocks in sections of their
// own share one table, clang's way: behind the sites of one come the headers of the next.)
std::vector<model::VirtAddr> landingPads(std::span<const std::byte> bytes, model::VirtAddr address,
                                         model::VirtAddr start, std::uint64_t size);

// The one of a function that has one (Fde::lsda); not if the pointer to it is indirect.
model::Result<Lsda> readLsda(const loader::ElfImage& image, const EhFrame& frame, const Fde& fde);
// Its landing pads, as above.
std::vector<model::VirtAddr> readLandingPads(const loader::ElfImage& image, const EhFrame& frame,
                                             const Fde& fde);

}  // namespace traceback::instrument
