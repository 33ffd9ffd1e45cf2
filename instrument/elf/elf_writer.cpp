#include "instrument/elf/elf_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <format>

#include "instrument/elf/preinit.h"
#include "instrument/elf/section_table.h"
#include "instrument/elf/symbol_writer.h"
#include "instrument/rounding.h"

namespace traceback::instrument {

using loader::ElfImage;
using model::Result;
using model::VirtAddr;

namespace {

class Writer {
 public:
  Writer(const ElfImage& image, const ElfPlan& plan, const ElfAdditions& additions)
      : m_image(image),
        m_plan(plan),
        m_additions(additions),
        m_header(image.header()),
        m_segments(image.segments().begin(), image.segments().end()),
        m_sections(image) {
    m_file.reserve(roomFor(image, additions));
    m_file.assign(image.bytes().begin(), image.bytes().end());
    m_segmentOffset = roundedUp(m_file.size(), kPageSize);
  }

  Result<std::vector<std::byte>> write() {
    if (auto ok = checkParts(); !ok) return std::unexpected(ok.error());
    if (auto ok = applyPatches(); !ok) return std::unexpected(ok.error());
    moveStretches();
    if (auto ok = addPreinit(); !ok) return std::unexpected(ok.error());
    changeSegments();
    appendSegment();
    addSections();
    moveHeaders();
    appendUnloaded();
    appendSymbols(m_file, m_image, m_sections, m_additions.symbols);
    m_sections.appendTo(m_file, m_header);
    std::memcpy(m_file.data(), &m_header, sizeof m_header);
    std::memcpy(m_file.data() + m_header.e_phoff, m_segments.data(), m_segments.size() * sizeof(Elf64_Phdr));
    return std::move(m_file);
  }

 private:
  static constexpr std::size_t kMostHeaders = 2;  // that are added

  // About what the file will take, or somewhat more: where one of hundreds of megabytes grows, twice of that
  // is there for a while.
  static std::size_t roomFor(const ElfImage& image, const ElfAdditions& additions) {
    constexpr std::size_t kRest = 1 << 16;
    std::size_t old = 0, added = kRest + additions.segment.size();
    for (const Elf64_Shdr& section : image.sections()) {
      added += sizeof section;
      if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_STRTAB || section.sh_type == SHT_DYNSYM)
        old += image.contents(section).size();
    }
    for (const FilePart& part : additions.unloaded) added += part.bytes.size() + 16;
    for (const AddedSymbol& symbol : additions.symbols) added += sizeof(Elf64_Sym) + symbol.name.size() + 1;
    return image.bytes().size() + std::min(old, image.bytes().size()) + added;
  }

  // Of what was asked for, and what moved there.
  std::size_t segmentSize() const { return m_additions.segment.size() + m_behind.size(); }
  // Behind it, at a multiple of that; where it is in the segment.
  std::size_t appendToSegment(std::span<const std::byte> bytes, std::size_t alignment) {
    const std::size_t place = roundedUp(segmentSize(), alignment);
    m_behind.resize(place - m_additions.segment.size());
    m_behind.insert(m_behind.end(), bytes.begin(), bytes.end());
    return place;
  }

  std::unexpected<model::Error> error(std::string message) const {
    return model::fail(std::move(message), m_image.path());
  }

  bool inSegment(VirtAddr address, std::uint64_t size) const {
    return address >= m_plan.segment && size <= m_additions.segment.size() &&
           address.value - m_plan.segment.value <= m_additions.segment.size() - size;
  }

  Result<void> checkParts() const {
    std::uint64_t end = m_plan.segment.value;
    const auto isZero = [&](std::uint64_t from, std::uint64_t to) {
      const auto gap = std::span(m_additions.segment).subspan(from - m_plan.segment.value, to - from);
      return std::ranges::all_of(gap, [](std::byte byte) { return byte == std::byte{0}; });
    };
    for (const auto& part : m_additions.parts) {
      if (!inSegment(part.address, part.size) || part.address.value < end) {
        return error(std::format("section {} is out of order or outside of the new segment", part.name));
      }
      if (!isZero(end, part.address.value)) {
        return error(std::format("bytes of no section before {} in the new segment", part.name));
      }
      end = part.address.value + part.size;
    }
    if (!isZero(end, m_plan.segment.value + m_additions.segment.size())) {
      return error("bytes of no section at the end of the new segment");
    }
    if (m_additions.ehFrameHeader.value != 0 &&
        !inSegment(m_additions.ehFrameHeader, m_additions.ehFrameHeaderSize)) {
      return error("the unwind table is outside of the new segment");
    }
    constexpr std::size_t kMaxSections = SHN_LORESERVE - 1;
    if (m_image.sections().size() + m_additions.parts.size() + m_additions.unloaded.size() + 5 >
        kMaxSections) {
      return error("too many sections");
    }
    return {};
  }

  Result<void> applyPatches() {
    std::uint64_t tableEnd = m_header.e_phoff + (m_segments.size() + kMostHeaders) * sizeof(Elf64_Phdr);
    for (const auto& stretch : m_plan.moved) tableEnd = std::max(tableEnd, stretch.offset + stretch.size);
    for (const auto& patch : m_additions.patches) {
      const auto offset = m_image.fileOffset(patch.address);
      if (!offset || !m_image.bytesAt(patch.address, patch.bytes.size()) || *offset < sizeof m_header ||
          (*offset < tableEnd && m_header.e_phoff < *offset + patch.bytes.size())) {
        return error(std::format("a patch at {:#x}, where the file has no contents", patch.address.value));
      }
      std::ranges::copy(patch.bytes, m_file.begin() + static_cast<std::ptrdiff_t>(*offset));
    }
    return {};
  }

  // Copies what gives way to the header table, and leads everything that says where it is to its new place.
  void moveStretches() {
    const auto& first = *std::ranges::find(m_image.segments(), PT_LOAD, &Elf64_Phdr::p_type);
    for (const auto& stretch : m_plan.moved) {
      const auto bytes = m_image.bytes().subspan(stretch.offset, stretch.size);
      std::uint64_t offset = 0;
      std::uint64_t address = 0;
      if (stretch.newOffset) {
        offset = *stretch.newOffset;
        address = first.p_vaddr + (offset - first.p_offset);
        std::ranges::copy(bytes, m_file.begin() + static_cast<std::ptrdiff_t>(offset));
      } else {
        const std::size_t place = appendToSegment(bytes, stretch.alignment);
        offset = m_segmentOffset + place;
        address = m_plan.segment.value + place;
      }
      const auto inside = [&](std::uint64_t at, std::uint64_t size) {
        return size != 0 && at >= stretch.offset && at + size <= stretch.offset + stretch.size;
      };
      // Judged by where things were: a stretch may have moved to where another one was.
      for (std::size_t i = 0; i < m_image.sections().size(); ++i) {
        const auto& old = m_image.sections()[i];
        if ((old.sh_flags & SHF_ALLOC) == 0 || !inside(old.sh_offset, old.sh_size)) continue;
        m_sections[i].header.sh_addr = address + (old.sh_offset - stretch.offset);
        m_sections[i].header.sh_offset = offset + (old.sh_offset - stretch.offset);
        if (!stretch.newOffset) m_movedSections.push_back(i);
      }
      for (std::size_t i = 0; i < m_segments.size(); ++i) {
        const auto& old = m_image.segments()[i];
        if (old.p_type == PT_LOAD || !inside(old.p_offset, old.p_filesz)) continue;
        m_segments[i].p_vaddr = m_segments[i].p_paddr = address + (old.p_offset - stretch.offset);
        m_segments[i].p_offset = offset + (old.p_offset - stretch.offset);
      }
      if (stretch.dynamicTag) setDynamic(*stretch.dynamicTag, address);
    }
  }

  void setDynamic(std::int64_t tag, std::uint64_t value) {
    const auto* dynamic = m_image.segment(PT_DYNAMIC);
    const auto entries = m_image.dynamic();
    const auto entry = std::ranges::find(entries, tag, &Elf64_Dyn::d_tag);
    const auto index = static_cast<std::uint64_t>(entry - entries.begin());
    const std::uint64_t at = dynamic->p_offset + index * sizeof(Elf64_Dyn) + offsetof(Elf64_Dyn, d_un);
    std::memcpy(m_file.data() + at, &value, sizeof value);
  }

  Result<void> addPreinit() {
    if (!m_additions.preinit) return {};
    const auto spare = spareDynamicEntries(m_image);
    if (!spare) return error("no room in the dynamic section");
    if (m_image.type() == ET_DYN) {
      if (auto ok = addRelocation(*m_additions.preinit); !ok) return ok;
    }
    const Elf64_Dyn entries[] = {
        {.d_tag = DT_PREINIT_ARRAY, .d_un = {.d_ptr = m_additions.preinit->array.value}},
        {.d_tag = DT_PREINIT_ARRAYSZ, .d_un = {.d_val = sizeof(std::uint64_t)}},
    };
    const std::uint64_t at = m_image.segment(PT_DYNAMIC)->p_offset + *spare * sizeof(Elf64_Dyn);
    std::memcpy(m_file.data() + at, entries, sizeof entries);
    return {};
  }

  // The table moves to where it can be longer.
  Result<void> addRelocation(const Preinit& preinit) {
    const auto address = m_image.dynamicValue(DT_RELA);
    const auto size = m_image.dynamicValue(DT_RELASZ);
    const auto table = address && size ? m_image.bytesAt({*address}, *size) : std::nullopt;
    if (!table) return error("no table of relocations");
    const Elf64_Rela added{.r_offset = preinit.array.value,
                           .r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE),
                           .r_addend = static_cast<std::int64_t>(preinit.function.value)};
    const std::uint64_t place = appendToSegment(*table, alignof(Elf64_Rela));
    const auto bytes = std::as_bytes(std::span(&added, 1));
    m_behind.insert(m_behind.end(), bytes.begin(), bytes.end());
    setDynamic(DT_RELA, m_plan.segment.value + place);
    setDynamic(DT_RELASZ, *size + sizeof added);
    if (const auto index = relocationSection(m_image)) {
      auto& section = m_sections[*index].header;
      section.sh_addr = m_plan.segment.value + place;
      section.sh_offset = m_segmentOffset + place;
      section.sh_size = *size + sizeof added;
      // Its header stays in front of that of the other relocations: eu-elflint looks for copies in the first.
    }
    return {};
  }

  void appendSegment() {
    m_file.resize(m_segmentOffset);
    m_file.insert(m_file.end(), m_additions.segment.begin(), m_additions.segment.end());
    m_file.insert(m_file.end(), m_behind.begin(), m_behind.end());
  }

  void changeSegments() {
    auto& writable = m_segments[m_plan.writableHeader];
    writable.p_memsz = m_plan.moduleSlots.value + m_plan.slotsSize - writable.p_vaddr;
    if (m_additions.ehFrameHeader.value != 0) {
      for (auto& segment : m_segments) {
        if (segment.p_type != PT_GNU_EH_FRAME) continue;
        segment.p_vaddr = segment.p_paddr = m_additions.ehFrameHeader.value;
        segment.p_offset = m_segmentOffset + (m_additions.ehFrameHeader.value - m_plan.segment.value);
        segment.p_filesz = segment.p_memsz = m_additions.ehFrameHeaderSize;
      }
    }
    Elf64_Phdr added{};
    added.p_type = PT_LOAD;
    added.p_flags = PF_R | PF_X;
    added.p_offset = m_segmentOffset;
    added.p_vaddr = added.p_paddr = m_plan.segment.value;
    added.p_filesz = added.p_memsz = segmentSize();
    added.p_align = kPageSize;
    // Behind the other PT_LOADs, which are sorted by address.
    if (m_plan.spareHeader)
      m_segments.erase(m_segments.begin() + static_cast<std::ptrdiff_t>(*m_plan.spareHeader));
    const auto last = std::ranges::find_last(m_segments, PT_LOAD, &Elf64_Phdr::p_type);
    m_segments.insert(last.begin() + 1, added);
    if (m_plan.threadStorage) changeThreadStorage(*m_plan.threadStorage);
    for (auto& segment : m_segments) {
      if (segment.p_type == PT_PHDR)
        segment.p_filesz = segment.p_memsz = m_segments.size() * sizeof(Elf64_Phdr);
    }
    m_header.e_phnum = static_cast<std::uint16_t>(m_segments.size());
  }

  void changeThreadStorage(Elf64_Phdr storage) {
    if (const auto old = std::ranges::find(m_segments, PT_TLS, &Elf64_Phdr::p_type);
        old != m_segments.end()) {
      const std::uint64_t moved = storage.p_vaddr - old->p_vaddr;  // modulo 2^64
      for (std::size_t i = 0; i < m_image.sections().size(); ++i) {
        if ((m_image.sections()[i].sh_flags & SHF_TLS) == 0) continue;
        m_sections[i].header.sh_addr += moved;
        m_sections[i].header.sh_offset += moved;
      }
      *old = storage;
      return;
    }
    storage.p_offset = m_segmentOffset;
    storage.p_vaddr = storage.p_paddr = m_plan.segment.value;
    m_segments.push_back(storage);
  }

  void addSections() {
    for (const auto& part : m_additions.parts) m_sections.retire(part.name);
    if (m_plan.slotsSize != 0) {
      const auto& writable = m_image.segments()[m_plan.writableHeader];
      Elf64_Shdr slots{};
      slots.sh_type = SHT_NOBITS;
      slots.sh_flags = SHF_ALLOC | SHF_WRITE;
      slots.sh_addr = m_plan.moduleSlots.value;
      slots.sh_offset = writable.p_offset + writable.p_filesz;
      slots.sh_size = m_plan.slotsSize;
      slots.sh_addralign = 8;
      m_sections.add(".traceback.bss", slots);
    }
    for (const auto& part : m_additions.parts) {
      Elf64_Shdr section{};
      section.sh_type = SHT_PROGBITS;
      section.sh_flags = SHF_ALLOC | (part.executable ? SHF_EXECINSTR : 0);
      section.sh_addr = part.address.value;
      section.sh_offset = m_segmentOffset + (part.address.value - m_plan.segment.value);
      section.sh_size = part.size;
      section.sh_addralign = part.alignment;
      m_sections.add(part.name, section);
    }
  }

  void moveHeaders() {
    for (const std::size_t i : m_movedSections) m_sections.moveBehind(i, m_image.sections()[i].sh_offset);
  }

  void appendUnloaded() {
    for (const auto& part : m_additions.unloaded) {
      m_file.resize((m_file.size() + 15) / 16 * 16);
      Elf64_Shdr section{};
      section.sh_type = SHT_PROGBITS;
      section.sh_offset = m_file.size();
      section.sh_size = part.bytes.size();
      section.sh_addralign = 16;
      m_sections.add(part.name, section);
      m_file.insert(m_file.end(), part.bytes.begin(), part.bytes.end());
    }
  }

  const ElfImage& m_image;
  const ElfPlan& m_plan;
  const ElfAdditions& m_additions;
  std::vector<std::byte> m_file;
  Elf64_Ehdr m_header;
  std::vector<Elf64_Phdr> m_segments;
  std::vector<std::byte> m_behind;  // what moved into the new segment, behind what was asked for
  SectionTable m_sections;
  std::vector<std::size_t> m_movedSections;  // into the new segment, to make way for the header table
  std::uint64_t m_segmentOffset = 0;
};

}  // namespace

Result<std::vector<std::byte>> writeElf(const ElfImage& image, const ElfPlan& plan,
                                        const ElfAdditions& additions) {
  return Writer(image, plan, additions).write();
}

}  // namespace traceback::instrument
