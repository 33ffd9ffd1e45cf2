#include "instrument/unwind/unwind_builder.h"

#include <algorithm>
#include <format>

#include "instrument/unwind/byte_sink.h"
#include "instrument/unwind/cfa_rows.h"
#include "instrument/unwind/lsda.h"
#include "instrument/unwind/lsda_builder.h"

namespace traceback::instrument {

using model::fail;
using model::Result;
using model::VirtAddr;

namespace {

constexpr std::uint8_t kHereS4 = static_cast<std::uint8_t>(kBaseHere) | static_cast<std::uint8_t>(kFormatS4);
constexpr std::uint8_t kDataS4 = static_cast<std::uint8_t>(kBaseData) | static_cast<std::uint8_t>(kFormatS4);

// In a file that can be loaded anywhere an absolute pointer is made by a relocation, at its old place.
bool needsRelocation(const loader::ElfImage& image, std::uint8_t encoding) {
  return image.type() == ET_DYN && encoding != kPointerOmitted && pointerBase(encoding) == kBaseAbsolute;
}

std::expected<void, Refusal> refuse(UnwindRefusal kind, std::string reason) {
  return std::unexpected(Refusal{.kind = kind, .reason = std::move(reason)});
}

struct SearchEntry {
  std::uint64_t start = 0;
  std::uint64_t size = 0;
  std::uint64_t entry = 0;  // address of its FDE
  bool isCopy = false;
};

class Builder {
 public:
  Builder(const loader::ElfImage& image, const EhFrame& frame, const Fragments& fragments,
          const LandingPads& landingPads, const LeafCode& leaf, VirtAddr base)
      : m_image(image), m_frame(frame), m_fragments(fragments), m_landingPads(landingPads), m_leaf(leaf) {
    m_headerAddress = (base.value + 7) & ~std::uint64_t{7};
    std::uint64_t searchable = fragments.count + (leaf.size != 0 ? 1 : 0);
    for (const Fde& fde : frame.fdes) searchable += fde.size != 0;
    m_exceptionsAddress = m_headerAddress + 12 + 8 * searchable;
  }

  Result<UnwindTables> build() {
    if (auto ok = canMove(m_image, m_frame); !ok) return std::unexpected(ok.error());
    if (auto done = appendExceptions(); !done) return std::unexpected(done.error());
    m_frameAddress = (m_exceptionsAddress + m_exceptions.size() + 7) & ~std::uint64_t{7};
    if (auto done = moveOldEntries(); !done) return std::unexpected(done.error());
    for (std::size_t i = 0; i < m_fragments.count; ++i) {
      if (auto done = appendEntry(m_fragments.at(i), m_lsdas[i]); !done) return std::unexpected(done.error());
    }
    if (m_leaf.size != 0 && !appendLeafEntry()) return error("copies too far from their unwind information");
    m_entries.value(0, 4);
    auto header = makeHeader();
    if (!header) return std::unexpected(header.error());
    return UnwindTables{.header = {{m_headerAddress}, std::move(*header)},
                        .exceptions = {{m_exceptionsAddress}, m_exceptions.take()},
                        .frame = {{m_frameAddress}, m_entries.take()}};
  }

 private:
  std::unexpected<model::Error> error(std::string message) const {
    return fail(std::move(message), m_image.path());
  }

  Result<void> checkPieces(const Fragment& fragment) const {
    if (fragment.fde >= m_frame.fdes.size()) return error("a fragment of a function that is not there");
    const Fde& fde = m_frame.fdes[fragment.fde];
    if (fragment.pieces.empty()) return error("a fragment without code");
    std::uint64_t end = 0;
    for (const Piece& piece : fragment.pieces) {
      if (!fde.contains(piece.original) || piece.originalSize == 0 ||
          piece.originalSize > fde.size - (piece.original.value - fde.start.value)) {
        return error(std::format("a piece of {:#x} that is outside of its function", piece.original.value));
      }
      if (piece.copy < end || piece.copy == 0) {
        return error(std::format("a piece of {:#x} that is out of order", piece.original.value));
      }
      end = piece.copy + piece.copySize;
    }
    return {};
  }

  Result<void> appendExceptions() {
    for (std::size_t i = 0; i < m_fragments.count; ++i) {
      const Fragment fragment = m_fragments.at(i);
      if (auto ok = checkPieces(fragment); !ok) return ok;
      const Fde& fde = m_frame.fdes[fragment.fde];
      m_lsdas.emplace_back(VirtAddr{0});
      if (fde.lsda.value == 0) continue;
      if (m_lsdaOf != fragment.fde) {
        auto lsda = readLsda(m_image, m_frame, fde);
        if (!lsda) return error(lsda.error().message);
        m_lsda = std::move(*lsda);
        m_lsdaOf = fragment.fde;
      }
      const auto address = appendLsda(m_exceptions, m_exceptionsAddress, m_lsda, fragment, m_landingPads);
      if (!address) return error(address.error().message);
      m_lsdas.back() = *address;
    }
    return {};
  }

  // Stores a pointer that lay at `field.position` of the old section, and does so in the new one.
  bool moveField(const EncodedPointer& field, std::uint8_t encoding) {
    const auto stored = encodePointer(field.target, encoding, m_frameAddress + field.position);
    if (stored) m_entries.put(field.position, *stored, *pointerSize(encoding));
    return stored.has_value();
  }

  Result<void> moveOldEntries() {
    m_entries.append(m_frame.bytes);
    for (const Cie& cie : m_frame.cies) {
      if (cie.personalityEncoding == kPointerOmitted) continue;
      if (!moveField(cie.personality, cie.personalityEncoding))
        return error("personality too far from the copies");
    }
    for (const Fde& fde : m_frame.fdes) {
      const Cie& cie = m_frame.cies[fde.cie];
      if (!moveField(fde.startField, cie.fdeEncoding)) return error("function too far from the copies");
      if (fde.lsda.value != 0 && !moveField(fde.lsdaField, cie.lsdaEncoding)) {
        return error("exception table too far from the copies");
      }
      if (fde.size != 0) m_search.push_back({fde.start.value, fde.size, m_frameAddress + fde.offset, false});
    }
    return {};
  }

  Result<const UnwindRows*> rowsOf(std::uint32_t index) {
    if (m_rowsOf != index) {
      const Fde& fde = m_frame.fdes[index];
      auto rows = unwindRows(m_frame.cies[fde.cie], fde);
      if (!rows) return error(rows.error().message);
      m_rows = std::move(*rows);
      m_rowsOf = index;
    }
    return &m_rows;
  }

  Result<ByteSink> makeProgram(const Fragment& fragment) {
    const auto rows = rowsOf(fragment.fde);
    if (!rows) return std::unexpected(rows.error());
    const std::uint64_t functionStart = m_frame.fdes[fragment.fde].start.value;
    ByteSink program;
    const UnwindState* state = &(*rows)->initial;
    std::uint64_t at = fragment.pieces.front().copy;
    for (const Piece& piece : fragment.pieces) {
      if (piece.copySize == 0) continue;
      const std::uint64_t offset = piece.original.value - functionStart;
      const UnwindState* next = &(*rows)->at(offset);
      if (&(*rows)->at(offset + piece.originalSize - 1) != next) {
        return error(
            std::format("unwind information changes within the instruction at {:#x}", piece.original.value));
      }
      if (next == state || *next == *state) continue;
      if (piece.copy != at) appendAdvance(program, piece.copy - at);
      at = piece.copy;
      appendTransition(program, *state, *next);
      state = next;
    }
    return program;
  }

  Result<void> appendEntry(const Fragment& fragment, VirtAddr lsda) {
    const Fde& original = m_frame.fdes[fragment.fde];
    const Cie& cie = m_frame.cies[original.cie];
    auto program = makeProgram(fragment);
    if (!program) return std::unexpected(program.error());
    const std::uint64_t start = fragment.pieces.front().copy;
    const std::uint64_t size = fragment.pieces.back().copy + fragment.pieces.back().copySize - start;
    const std::size_t pointer = *pointerSize(cie.fdeEncoding);

    const std::size_t entry = m_entries.size();
    m_entries.value(0, 4);
    m_entries.value(m_entries.size() - cie.offset, 4);
    const auto startStored = encodePointer(start, cie.fdeEncoding, m_frameAddress + m_entries.size());
    const auto sizeStored = encodePointer(size, cie.fdeEncoding & kPointerFormatMask, 0);
    if (!startStored || !sizeStored) return error("copy too far from its unwind information");
    m_entries.value(*startStored, pointer);
    m_entries.value(*sizeStored, pointer);
    if (cie.hasAugmentationData) {
      const bool hasLsda = cie.lsdaEncoding != kPointerOmitted;
      const std::size_t lsdaSize = hasLsda ? *pointerSize(cie.lsdaEncoding) : 0;
      m_entries.uleb(lsdaSize);
      if (hasLsda) {
        const auto stored = encodePointer(lsda.value, cie.lsdaEncoding, m_frameAddress + m_entries.size());
        if (!stored) return error("exception table of a copy too far from its unwind information");
        m_entries.value(*stored, lsdaSize);
      }
    }
    m_entries.append(program->bytes());
    m_entries.align(4);  // zero is DW_CFA_nop
    m_entries.put(entry, m_entries.size() - entry - 4, 4);
    m_search.push_back({start, size, m_frameAddress + entry, true});
    return {};
  }

  // With a CIE of its own: the caller's frame is right behind the return address.
  bool appendLeafEntry() {
    constexpr std::uint8_t kCie[] = {0x14, 0,    0,  0, 0,       0,    0, 0, 1,    'z', 'R', 0,
                                     1,    0x78, 16, 1, kHereS4, 0x0C, 7, 8, 0x90, 1,   0,   0};
    const std::size_t cie = m_entries.size();
    m_entries.append(std::as_bytes(std::span(kCie)));
    const std::size_t entry = m_entries.size();
    m_entries.value(0x10, 4);
    m_entries.value(m_entries.size() - cie, 4);
    const auto start = encodePointer(m_leaf.start.value, kHereS4, m_frameAddress + m_entries.size());
    if (!start) return false;
    m_entries.value(*start, 4);
    m_entries.value(m_leaf.size, 4);
    m_entries.value(0, 4);  // no augmentation data; three DW_CFA_nop
    m_search.push_back({m_leaf.start.value, m_leaf.size, m_frameAddress + entry, true});
    return true;
  }

  Result<std::vector<std::byte>> makeHeader() {
    std::ranges::stable_sort(m_search, {}, &SearchEntry::start);
    for (std::size_t i = 1; i < m_search.size(); ++i) {
      const auto& before = m_search[i - 1];
      if ((before.isCopy || m_search[i].isCopy) && m_search[i].start - before.start < before.size) {
        return error(std::format("copies of functions overlap at {:#x}", m_search[i].start));
      }
    }
    ByteSink header;
    header.byte(1);
    header.byte(kHereS4);
    header.byte(kFormatU4);
    header.byte(kDataS4);
    const auto frame = encodePointer(m_frameAddress, kHereS4, m_headerAddress + 4);
    if (!frame) return error("unwind information too large");
    header.value(*frame, 4);
    header.value(m_search.size(), 4);
    for (const auto& entry : m_search) {
      const auto start = encodePointer(entry.start, kDataS4, 0, m_headerAddress);
      const auto fde = encodePointer(entry.entry, kDataS4, 0, m_headerAddress);
      if (!start || !fde) return error("function too far from the unwind search table");
      header.value(*start, 4);
      header.value(*fde, 4);
    }
    return header.take();
  }

  const loader::ElfImage& m_image;
  const EhFrame& m_frame;
  const Fragments& m_fragments;
  const LandingPads& m_landingPads;
  const LeafCode& m_leaf;
  std::uint64_t m_headerAddress = 0, m_exceptionsAddress = 0, m_frameAddress = 0;
  ByteSink m_exceptions, m_entries;
  std::vector<VirtAddr> m_lsdas;  // by fragment
  // Of the function that was last asked for: its fragments mostly follow each other.
  Lsda m_lsda;
  std::optional<std::uint32_t> m_lsdaOf;
  UnwindRows m_rows;
  std::optional<std::uint32_t> m_rowsOf;
  std::vector<SearchEntry> m_search;
};

std::expected<void, Refusal> checkInstructions(const Fde& fde, const UnwindRows& rows, const Lsda& lsda,
                                               std::span<const VirtAddr> instructions) {
  const auto isStart = [&](VirtAddr address) { return std::ranges::binary_search(instructions, address); };
  for (const auto& row : rows.rows) {
    if (!isStart({fde.start.value + row.offset})) {
      return refuse(UnwindRefusal::BadUnwindInfo, "it changes within an instruction");
    }
  }
  for (const auto& site : lsda.callSites) {
    const VirtAddr end{site.start.value + site.length};
    if (site.length != 0 && (!isStart(site.start) || (fde.contains(end) && !isStart(end)))) {
      return refuse(UnwindRefusal::BadExceptionTable, "a call site ends within an instruction");
    }
    if (fde.contains(site.landingPad) && !isStart(site.landingPad)) {
      return refuse(UnwindRefusal::BadExceptionTable, "a landing pad is within an instruction");
    }
  }
  return {};
}

}  // namespace

std::expected<void, Refusal> canCarry(const loader::ElfImage& image, const EhFrame& frame,
                                      std::uint32_t index, std::span<const VirtAddr> instructions) {
  const Fde& fde = frame.fdes.at(index);
  const Cie& cie = frame.cies[fde.cie];
  // Unwinders know such frames by the bytes of the code.
  if (cie.signalFrame) return refuse(UnwindRefusal::BadUnwindInfo, "signal frame");
  const auto rows = unwindRows(cie, fde);
  if (!rows) return refuse(UnwindRefusal::BadUnwindInfo, rows.error().message);
  Lsda lsda;
  if (fde.lsda.value != 0) {
    auto read = readLsda(image, frame, fde);
    if (!read) return refuse(UnwindRefusal::BadExceptionTable, read.error().message);
    if (!read->types.empty() && needsRelocation(image, read->typeEncoding)) {
      return refuse(UnwindRefusal::BadExceptionTable, "absolute types, which need relocations");
    }
    lsda = std::move(*read);
  }
  if (instructions.empty()) return {};
  return checkInstructions(fde, *rows, lsda, instructions);
}

Result<void> canMove(const loader::ElfImage& image, const EhFrame& frame) {
  if (image.type() == ET_DYN && frame.hasAbsolutePointers()) {
    return fail("unwind information (.eh_frame) with absolute addresses, which need relocations",
                image.path());
  }
  return {};
}

Result<UnwindTables> buildUnwindTables(const loader::ElfImage& image, const EhFrame& frame,
                                       const Fragments& fragments, const LandingPads& landingPads,
                                       const LeafCode& leaf, VirtAddr base) {
  return Builder(image, frame, fragments, landingPads, leaf, base).build();
}

Result<UnwindTables> buildUnwindTables(const loader::ElfImage& image, const EhFrame& frame,
                                       std::span<const Fragment> fragments, const LandingPads& landingPads,
                                       VirtAddr base) {
  return buildUnwindTables(image, frame,
                           Fragments{fragments.size(), [&](std::size_t i) { return fragments[i]; }},
                           landingPads, {}, base);
}

}  // namespace traceback::instrument
