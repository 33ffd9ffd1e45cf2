#include "tests/truth/second_decoder/old_bytes.h"

#include <algorithm>
#include <cstring>
#include <format>
#include <optional>

namespace traceback::truth {

namespace {

using Span = std::pair<std::uint64_t, std::uint64_t>;  // addresses [first, second)

void allowDynamic(const ElfFile& original, const InstrumentedFile& file, std::uint64_t from, std::uint64_t to,
                  std::vector<Span>& may, Findings& findings) {
  for (const Elf64_Phdr& segment : original.segments()) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at = segment.p_vaddr; at + sizeof(Elf64_Dyn) <= segment.p_vaddr + segment.p_filesz;
         at += sizeof(Elf64_Dyn)) {
      const auto before = original.at(at, sizeof(Elf64_Dyn)), after = file.elf.at(at, sizeof(Elf64_Dyn));
      if (!before || !after) return;
      Elf64_Dyn old{}, now{};
      std::memcpy(&old, before->data(), sizeof old);
      std::memcpy(&now, after->data(), sizeof now);
      if (old.d_tag != now.d_tag || old.d_un.d_ptr != from) continue;
      if (now.d_un.d_ptr == to) may.emplace_back(at + 8, at + 16);
      const bool names = old.d_tag == DT_HASH || old.d_tag == DT_GNU_HASH || old.d_tag == DT_SYMTAB ||
                         old.d_tag == DT_STRTAB;
      if (names && now.d_un.d_ptr != to)
        findings.add(std::format("the dynamic section still names {:#x}, which had to move", from));
    }
  }
}

bool sameBytes(const std::optional<std::span<const unsigned char>>& before,
               const std::optional<std::span<const unsigned char>>& after) {
  return before && after && std::ranges::equal(*before, *after);
}

// What gives way to the table of segments: the sections that it has grown over, and all others that a header
// which names one of them names with it, as that of several notes in a row does.
Span givingWay(const ElfFile& original, Span grown) {
  const auto extend = [&grown](std::uint64_t start, std::uint64_t size) {
    if (start >= grown.second || start + size <= grown.first || start < grown.first ||
        start + size <= grown.second)
      return false;
    grown.second = start + size;
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& section : original.loadedSections()) changed |= extend(section.address, section.size);
    for (const Elf64_Phdr& segment : original.segments())
      if (segment.p_type == PT_NOTE || segment.p_type == PT_GNU_PROPERTY)
        changed |= extend(segment.p_vaddr, segment.p_filesz);
  }
  return grown;
}

// The front of the file: its header, and the table of segments, which may have grown over sections that
// follow it. Those must then be, whole, elsewhere, and notes where a header names them.
std::vector<Span> frontOf(const ElfFile& original, const InstrumentedFile& file, Findings& findings) {
  std::vector<Span> front;
  for (const Elf64_Phdr& segment : original.segments()) {
    if (segment.p_type != PT_LOAD || segment.p_offset != 0) continue;
    front.emplace_back(segment.p_vaddr, segment.p_vaddr + sizeof(Elf64_Ehdr));
    if (file.elf.header().e_phoff != original.header().e_phoff) continue;
    const std::uint64_t table = segment.p_vaddr + original.header().e_phoff;
    const Span grown{table, table + file.elf.segments().size() * sizeof(Elf64_Phdr)};
    front.push_back(grown);
    const Span gone = givingWay(original, grown);
    const auto overlaps = [&gone](std::uint64_t start, std::uint64_t size) {
      return start < gone.second && start + size > gone.first;
    };
    const auto now = file.elf.loadedSections();
    for (const auto& section : original.loadedSections()) {
      const std::string& name = section.name;
      const std::uint64_t address = section.address, size = section.size;
      if (!overlaps(address, size)) continue;
      const auto like = std::ranges::find_if(now, [&](const ElfFile::Section& moved) {
        return moved.name == name &&
               sameBytes(original.at(address, size), file.elf.at(moved.address, moved.size));
      });
      front.emplace_back(address, address + size);
      if (like == now.end())
        findings.add(std::format("{} had to move, and is not what it was", name));
      else  // What the dynamic section says of it has moved with it.
        allowDynamic(original, file, address, like->address, front, findings);
    }
    for (const Elf64_Phdr& note : original.segments()) {
      if (note.p_type != PT_NOTE || !overlaps(note.p_vaddr, note.p_filesz)) continue;
      const auto like = [&](const Elf64_Phdr& other) {
        return other.p_type == PT_NOTE && sameBytes(original.at(note.p_vaddr, note.p_filesz),
                                                    file.elf.at(other.p_vaddr, other.p_filesz));
      };
      if (std::ranges::none_of(file.elf.segments(), like))
        findings.add(std::format("no header names the notes that were at {:#x}", note.p_vaddr));
    }
  }
  return front;
}

std::vector<std::pair<std::uint64_t, Elf64_Dyn>> dynamicOf(const ElfFile& elf) {
  std::vector<std::pair<std::uint64_t, Elf64_Dyn>> entries;
  for (const Elf64_Phdr& segment : elf.segments()) {
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::uint64_t at = segment.p_vaddr; at + sizeof(Elf64_Dyn) <= segment.p_vaddr + segment.p_filesz;
         at += sizeof(Elf64_Dyn)) {
      const auto bytes = elf.at(at, sizeof(Elf64_Dyn));
      Elf64_Dyn entry{};
      if (!bytes) return entries;
      std::memcpy(&entry, bytes->data(), sizeof entry);
      entries.emplace_back(at, entry);
    }
  }
  return entries;
}

std::optional<Elf64_Dyn> dynamicOf(const ElfFile& elf, std::int64_t tag) {
  for (const auto& [at, entry] : dynamicOf(elf)) {
    if (entry.d_tag == tag) return entry;
    if (entry.d_tag == DT_NULL) break;
  }
  return std::nullopt;
}

// Memory that is there only since the file was instrumented.
bool isNew(const ElfFile& original, std::uint64_t address) {
  return std::ranges::none_of(original.segments(), [address](const Elf64_Phdr& segment) {
    return segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
           address - segment.p_vaddr < segment.p_memsz;
  });
}

// A program may have got a function that is called before all others: two spare entries of the dynamic
// section name an array of one, and where a relocation must fill that, the table of relocations is elsewhere,
// with one more at its end.
void allowPreinit(const ElfFile& original, const InstrumentedFile& file, std::vector<Span>& may,
                  Findings& findings) {
  const auto array = dynamicOf(file.elf, DT_PREINIT_ARRAY), size = dynamicOf(file.elf, DT_PREINIT_ARRAYSZ);
  if (!array || dynamicOf(original, DT_PREINIT_ARRAY)) return;
  const auto refuse = [&findings](const char* what) {
    findings.add(std::format("the function that is called before all others: {}", what));
  };
  if (!size || size->d_un.d_val != 8 || !isNew(original, array->d_un.d_ptr)) return refuse("not one");
  std::uint64_t function = 0;
  const auto oldTable = dynamicOf(original, DT_RELA), newTable = dynamicOf(file.elf, DT_RELA),
             oldSize = dynamicOf(original, DT_RELASZ), newSize = dynamicOf(file.elf, DT_RELASZ);
  if (const auto held = file.elf.at(array->d_un.d_ptr, 8); held && original.header().e_type == ET_EXEC) {
    std::memcpy(&function, held->data(), 8);
  } else {
    if (!oldTable || !newTable || !oldSize || !newSize ||
        newSize->d_un.d_val != oldSize->d_un.d_val + sizeof(Elf64_Rela))
      return refuse("no relocation for it");
    const auto before = original.at(oldTable->d_un.d_ptr, oldSize->d_un.d_val),
               after = file.elf.at(newTable->d_un.d_ptr, newSize->d_un.d_val);
    if (!before || !after || !isNew(original, newTable->d_un.d_ptr) ||
        !std::ranges::equal(*before, after->first(before->size())))
      return refuse("the table of relocations is not what it was");
    Elf64_Rela added{};
    std::memcpy(&added, after->data() + before->size(), sizeof added);
    if (added.r_info != ELF64_R_INFO(0, R_X86_64_RELATIVE) || added.r_offset != array->d_un.d_ptr)
      return refuse("its relocation is another");
    function = std::uint64_t(added.r_addend);
  }
  if (!isNew(original, function) || !file.elf.at(function, 1)) return refuse("it is not in what was added");
  const auto before = dynamicOf(original), after = dynamicOf(file.elf);
  for (std::size_t i = 0; i + 1 < before.size() && i + 1 < after.size(); ++i) {
    const auto& [at, entry] = after[i];
    if (entry.d_tag == DT_PREINIT_ARRAY || entry.d_tag == DT_PREINIT_ARRAYSZ) {
      if (before[i].second.d_tag != DT_NULL || after[i + 1].second.d_tag == entry.d_tag)
        refuse("it takes another entry's place");
      may.emplace_back(at, at + sizeof(Elf64_Dyn));
    } else if (entry.d_tag == DT_RELA || entry.d_tag == DT_RELASZ) {
      may.emplace_back(at + 8, at + 16);
    }
  }
  if (after.empty() || after.back().second.d_tag != DT_NULL) refuse("nothing ends the dynamic section");
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

// The old code of functions that have copies, where it is breakpoints from behind the entry's jump to the
// end.
std::vector<Span> breakpointsOf(const InstrumentedFile& file, const std::vector<std::uint64_t>& windows) {
  std::vector<Span> filled;
  for (const auto& function : file.functions) {
    const format::FunctionEntry& entry = function.entry;
    const std::uint64_t end = entry.original + entry.originalSize;
    const auto window = std::ranges::lower_bound(windows, entry.original);
    const bool entered = window != windows.end() && *window < end;
    const std::uint64_t from = entered ? *window + 5 : entry.original;
    if (entry.copy == 0 || from >= end) continue;
    const auto bytes = file.elf.at(from, end - from);
    if (bytes && std::ranges::all_of(*bytes, [](unsigned char byte) { return byte == 0xCC; }))
      filled.emplace_back(from, end);
  }
  return filled;  // sorted, for functions are
}

}  // namespace

void checkOldBytes(const ElfFile& original, const InstrumentedFile& file,
                   const std::vector<std::uint64_t>& windows, bool poisoned, Findings& findings) {
  checkSegments(original, file, findings);
  std::vector<Span> may = frontOf(original, file, findings);
  allowPreinit(original, file, may, findings);
  const std::vector<Span> filled = poisoned ? breakpointsOf(file, windows) : std::vector<Span>{};
  const auto allowed = [&](std::uint64_t address) {
    auto after = std::ranges::upper_bound(windows, address);
    auto behind = std::ranges::upper_bound(filled, address, {}, &Span::first);
    return (after != windows.begin() && address < *std::prev(after) + 5) ||
           (behind != filled.begin() && address < std::prev(behind)->second) ||
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
