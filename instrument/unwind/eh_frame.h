// Unwind information of a file: the entries of its .eh_frame (Linux Standard Base, "Exception Frames"; the
// programs in them are DWARF 4, section 6.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "instrument/unwind/pointer_encoding.h"
#include "loader/elf/elf_image.h"
#include "model/error.h"
#include "model/ids.h"

namespace traceback::instrument {

// What several functions have in common.
struct Cie {
  std::uint64_t offset = 0;  // of its length field, in the section
  std::uint8_t version = 1;
  std::string augmentation;  // "zPLR"
  std::uint64_t codeAlignment = 1;
  std::int64_t dataAlignment = 1;
  std::uint64_t returnRegister = 16;
  bool hasAugmentationData = false;             // 'z'
  bool signalFrame = false;                     // 'S'
  std::uint8_t fdeEncoding = 0;                 // of addresses of functions
  std::uint8_t lsdaEncoding = kPointerOmitted;  // of pointers to language-specific data
  std::uint8_t personalityEncoding = kPointerOmitted;
  EncodedPointer personality;          // position in the section; with kPointerIndirect in the
                               // encoding, its target is the word that holds the address
  std::span<const std::byte> program;  // initial instructions
};

// One function, or one part of it.
struct Fde {
  std::uint64_t offset = 0;  // of its length field, in the section
  std::uint32_t cie = 0;
  EncodedPointer startField;  // positions in the section
  EncodedPointer lsdaField;
  model::VirtAddr start;
  std::uint64_t size = 0;
  model::VirtAddr lsda;  // 0: none
  std::span<const std::byte> program;

  bool contains(model::VirtAddr address) const {
    return address >= start && address.value - start.value < size;
  }
};

// Refers to the section's bytes, which must outlive it.
struct EhFrame {
  model::VirtAddr address;
  std::span<const std::byte> bytes;  // the entries, without the terminator
  std::vector<Cie> cies;
  std::vector<Fde> fdes;  // in the order of the section

  // Whether an entry holds an absolute address, which in a file that can be loaded anywhere only a
  // relocation makes right: such a table cannot be moved.
  bool hasAbsolutePointers() const;
};

// The entries up to the terminator, or to the end of `section`. Fails on what it cannot read to the end:
// damaged lengths, augmentations and pointer encodings that are not known, 64-bit entries.
model::Result<EhFrame> parseEhFrame(std::span<const std::byte> section, model::VirtAddr address);

// .eh_frame_hdr, which PT_GNU_EH_FRAME leads to.
struct EhFrameHeader {
  model::VirtAddr ehFrame;
  std::optional<std::uint64_t> fdeCount;  // if it has a search table
};
model::Result<EhFrameHeader> parseEhFrameHeader(std::span<const std::byte> bytes, model::VirtAddr address);

// A file's unwind information, found through PT_GNU_EH_FRAME, so without section headers too. A section of
// unknown size that does not end in a terminator is an error, as is a search table that knows of more
// functions than the section shows. Refers to the image's bytes.
model::Result<EhFrame> readEhFrame(const loader::ElfImage& image);

}  // namespace traceback::instrument
