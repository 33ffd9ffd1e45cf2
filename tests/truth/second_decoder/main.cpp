// truth_second_decoder ORIGINAL INSTRUMENTED
//
// Says whether the instrumented file is the original, but for a jump at entries and what was added, and
// whether the copies do what the originals do. Exit status: 0 if so, 1 if not, 2 if a file cannot be read.
#include <algorithm>
#include <array>
#include <cstring>
#include <format>
#include <print>

#include "tests/truth/second_decoder/copy_checker.h"

using namespace traceback::truth;
namespace format = traceback::format;

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
        findings.wrong.push_back(std::format("{} had to move, and is not what it was", name));
      front.emplace_back(address, address + size);
      // What the dynamic section says of it has moved with it.
      for (const auto& moved : file.elf.loadedSections())
        if (moved.name == name) allowDynamic(original, file, address, moved.address, front);
    }
  }
  return front;
}

// All that is loaded must be as it was, except that front and the entries' jumps.
void checkOldBytes(const ElfFile& original, const InstrumentedFile& file, Findings& findings) {
  std::vector<Span> may = frontOf(original, file, findings);
  for (const InstrumentedFunction& function : file.functions) {
    if (function.entry.copy == 0) continue;
    const auto code = original.at(function.entry.original, 4);
    const bool endbr =
        code && std::ranges::equal(*code, std::to_array<unsigned char>({0xF3, 0x0F, 0x1E, 0xFA}));
    const std::uint64_t window = function.entry.original + (endbr ? 4 : 0);
    may.emplace_back(window, window + 5);
  }
  const auto allowed = [&may](std::uint64_t address) {
    return std::ranges::any_of(
        may, [address](const Span& span) { return address >= span.first && address < span.second; });
  };
  for (const Elf64_Phdr& segment : original.segments()) {
    if (segment.p_type != PT_LOAD || segment.p_filesz == 0) continue;
    const auto before = original.at(segment.p_vaddr, segment.p_filesz);
    const auto after = file.elf.at(segment.p_vaddr, segment.p_filesz);
    if (!before || !after) {
      findings.wrong.push_back(std::format("the segment at {:#x} is not there any more", segment.p_vaddr));
      continue;
    }
    for (std::uint64_t i = 0; i < segment.p_filesz && findings.wrong.size() < 20; ++i)
      if ((*before)[i] != (*after)[i] && !allowed(segment.p_vaddr + i))
        findings.wrong.push_back(std::format("{:#x} ({}) is {:#x} instead of {:#x}", segment.p_vaddr + i,
                                             original.sectionAt(segment.p_vaddr + i), (*after)[i],
                                             (*before)[i]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::println(stderr, "usage: truth_second_decoder ORIGINAL INSTRUMENTED");
    return 2;
  }
  auto original = ElfFile::open(argv[1]);
  auto file = InstrumentedFile::open(argv[2]);
  if (!original || !file) {
    std::println(stderr, "truth_second_decoder: {}", original ? file.error() : original.error());
    return 2;
  }
  Findings findings;
  checkOldBytes(*original, *file, findings);
  CopyChecker checker(*original, *file, findings);
  for (const InstrumentedFunction& function : file->functions) checker.check(function);
  checker.checkObligations();
  for (const std::string& wrong : findings.wrong) std::println("{}", wrong);
  std::println(
      "{} of {} functions, {} entries, {} instructions, {} heads, {} light probes, {} indirect jumps: {}",
      findings.functions, file->functions.size(), findings.windows, findings.instructions, findings.heads,
      findings.lights, findings.dispatches, findings.wrong.empty() ? "all right" : "WRONG");
  return findings.wrong.empty() ? 0 : 1;
}
