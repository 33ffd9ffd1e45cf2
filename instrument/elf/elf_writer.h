// Writes an ELF file again with additions. All that it had stays where it was, byte for byte, but for the
// patches asked for, the header tables, and the names of sections that are taken over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "instrument/elf/elf_plan.h"
#include "loader/elf/elf_image.h"
#include "model/error.h"
#include "model/ids.h"

namespace traceback::instrument {

// A part of the new segment, which becomes a section. A section of the original that has the same name is
// renamed to ".traceback.orig" + name. What no section covers is lost when the file is stripped: so parts
// must cover all bytes that are not zero.
struct SegmentPart {
  std::string name;
  model::VirtAddr address;
  std::uint64_t size = 0;
  bool executable = false;
  std::uint64_t alignment = 16;
};

// A section that is not loaded, at the file's end.
struct FilePart {
  std::string name;
  std::vector<std::byte> bytes;
};

struct Patch {
  model::VirtAddr address;
  std::vector<std::byte> bytes;
};

// A function in the new segment, for .symtab.
struct AddedSymbol {
  std::string name;
  model::VirtAddr address;
  std::uint64_t size = 0;
};

// A function to be called before all constructors (preinit.h), and the array of one that leads to it: in the
// module's slots, or, in a program at a fixed address, in the new segment with the address in it.
struct Preinit {
  model::VirtAddr function;
  model::VirtAddr array;
};

struct ElfAdditions {
  std::vector<std::byte> segment;       // from ElfPlan::segment on
  std::vector<SegmentPart> parts;       // by rising address
  model::VirtAddr ehFrameHeader;        // where PT_GNU_EH_FRAME is to lead; 0: where it does
  std::uint64_t ehFrameHeaderSize = 0;
  std::vector<Patch> patches;           // of bytes that the original file has
  std::vector<FilePart> unloaded;
  std::vector<AddedSymbol> symbols;
  std::optional<Preinit> preinit;       // only where whyNoPreinit() finds no reason against it
};

// The new file. A file without section headers gets some, of what was added.
model::Result<std::vector<std::byte>> writeElf(const loader::ElfImage& image, const ElfPlan& plan,
                                               const ElfAdditions& additions);

}  // namespace traceback::instrument
