#include "tests/truth/second_decoder/old_bytes.h"

#include <algorithm>
#include <cstring>
#include <format>

namespace traceback::truth {

namespace {

using Span = std::pair<std::uint64_t, std::uint64_t>;  // addresses [first, second)

void allowDynamic(const ElfFile& original, const InstrumentedFile& file, std::uint64_t from, std::uint64_t to,
                  std::vector<Span>& may) {
  for (const Elf64_Phdr& segment : original.segments()) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at = segment.p_vaddr; at + sizeof(Elf64_Dyn) <= segment.p_vaddr + segment.p_filesz;
         at += sizeof(Elf64_Dyn)) {
      const auto before = original.at(at, sizeof(Elf64_Dyn)), after = file.elf.at(at, sizeof(Elf64_Dyn));
      if (!before || !after) return;
      Elf64_Dyn old{}, now{};
      std::memcpy(&old, before->data(), sizeof old);
      std::memcpy(&now, after->data(), sizeof now);
      if (old.d_tag == now.d_tag && old.d_un.d_ptr == from && now.d_un.d_ptr == to)
        may.emplace_back(at + 8, at + 16);
    }
  }
}

// The front of the file: its header, and the table of segments, which may have grown over sections that
// follow it. Those must then be, whole, elsewhere.
std::vector<Span> frontOf(const ElfFile& original, const InstrumentedFile& file, Findings& findings) {
  std::vector<Span> front;
  for (const Elf64_Phdr& segment : original.segments()) {
    if (segment.p_type != PT_LOAD || segment.p_offset != 0) continue;
    front.emplace_back(segment.p_vaddr, segment.p_vaddr + sizeof(Elf64_Ehdr));
    if (file.elf.header().e_phoff != original.header().e_phoff) continue;
    const std::uint64_t table = segment.p_vaddr + original.header().e_phoff;
    const Span grown{table, table + file.elf.segments().size() * sizeof(Elf64_Phdr)};
    front.push_back(grown);
    for (const auto& [name, address, size] : original.loadedSections()) {
      if (address >= grown.second || address + size <= grown.first) continue;
      const auto before = original.at(address, size), after = file.elf.section(name);
      if (!before || !after || !std::ranges::equal(*before, *after))
        findings.add(std::format("{} had to move, and is not what it was", name));
      front.emplace_back(address, address + size);
      // What the dynamic section says of it has moved with it.
      for (const auto& moved : file.elf.loadedSections())
        if (moved.name == name) allowDynamic(original, file, address, moved.address, front);
    }
  }
  return front;
}

bool sameRange(const Elf64_Phdr& a, const Elf64_Phdr& b) {
  return a.p_vaddr == b.p_vaddr && a.p_filesz == b.p_filesz && a.p_memsz == b.p_memsz;
}

// Every header of the original has its like; only the writable data may have grown, and only what nothing
// reads at run time (a note) may be gone.
void checkSegments(const ElfFile& original, const InstrumentedFile& file, Findings& findings) {
  const auto& now = file.elf.segments();
  if (original.header().e_entry != file.elf.header().e_entry) findings.add("the entry point is another");
  if (original.header().e_type != file.elf.header().e_type) findings.add("the file's type is another");
  for (const Elf64_Phdr& old : original.segments()) {
    if (old.p_type == PT_NOTE || old.p_type == PT_PHDR || old.p_type == PT_GNU_EH_FRAME) continue;
    const auto like = [&old](const Elf64_Phdr& segment) {
      if (segment.p_type != old.p_type || segment.p_flags != old.p_flags) return false;
      if (old.p_type == PT_LOAD)
        return segment.p_vaddr == old.p_vaddr && segment.p_filesz == old.p_filesz &&
               segment.p_align == old.p_align &&
               (segment.p_memsz == old.p_memsz ||
                ((old.p_flags & PF_W) != 0 && segment.p_memsz > old.p_memsz));
      return old.p_type == PT_INTERP ? segment.p_filesz == old.p_filesz : sameRange(segment, old);
    };
    const auto found = std::ranges::find_if(now, like);
    if (found == now.end()) {
      findings.add(
          std::format("the segment of type {:#x} at {:#x} is not what it was", old.p_type, old.p_vaddr));
      continue;
    }
    if (old.p_type != PT_INTERP) continue;
    const auto before = original.at(old.p_vaddr, old.p_filesz),
               after = file.elf.at(found->p_vaddr, old.p_filesz);
    if (!before || !after || !std::ranges::equal(*before, *after))
      findings.add("the program interpreter is another");
  }
  // What is loaded may not overlap.
  std::uint64_t end = 0;
  for (const Elf64_Phdr& segment : now) {
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_vaddr < end) findings.add(std::format("segments overlap at {:#x}", segment.p_vaddr));
    if (segment.p_align != 0 && (segment.p_vaddr - segment.p_offset) % segment.p_align != 0)
      findings.add(std::format("the segment at {:#x} cannot be mapped", segment.p_vaddr));
    if ((segment.p_flags & PF_W) != 0 && (segment.p_flags & PF_X) != 0)
      findings.add(std::format("the segment at {:#x} is writable code", segment.p_vaddr));
    end = segment.p_vaddr + segment.p_memsz;
  }
}

}  // namespace

void checkOldBytes(const ElfFile& original, const InstrumentedFile& file,
                   const std::vector<std::uint64_t>& windows, Findings& findings) {
  checkSegments(original, file, findings);
  const std::vector<Span> may = frontOf(original, file, findings);
  const auto allowed = [&](std::uint64_t address) {
    auto after = std::ranges::upper_bound(windows, address);
    return (after != windows.begin() && address < *std::prev(after) + 5) ||
           std::ranges::any_of(
               may, [address](const Span& span) { return address >= span.first && address < span.second; });
  };
  for (const Elf64_Phdr& segment : original.segments()) {
    if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
    const auto before = original.at(segment.p_vaddr, segment.p_filesz);
    const auto after = file.elf.at(segment.p_vaddr, segment.p_filesz);
    if (!before || !after) {
      findings.add(std::format("the segment at {:#x} is not there any more", segment.p_vaddr));
      continue;
    }
    for (std::uint64_t i = 0; i < segment.p_filesz; ++i)
      if ((*before)[i] != (*after)[i] && !allowed(segment.p_vaddr + i))
        findings.add(std::format("{:#x} ({}) is {:#x} instead of {:#x}", segment.p_vaddr + i,
                                 original.sectionAt(segment.p_vaddr + i), (*after)[i], (*before)[i]));
  }
}

}  // namespace traceback::truth
