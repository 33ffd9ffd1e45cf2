#include "instrument/analysis/code_rules.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace traceback::instrument {
namespace {

using format::SkipReason;

constexpr std::uint32_t kRseqSignature = 0x53053053;
// struct rseq_cs: version, flags, start_ip, post_commit_offset, abort_ip.
constexpr std::uint64_t kStartToAbort = 16;
constexpr std::uint64_t kXrayEntrySize = 32;

template <typename T>
std::optional<T> load(const loader::ElfImage& image, VirtAddr address) {
  const auto bytes = image.bytesAt(address, sizeof(T));
  return bytes ? loader::readAt<T>(*bytes, 0) : std::nullopt;
}

// The words of data that are addresses, by relocation or as they are: where each stands, and its value.
using Words = std::function<void(VirtAddr at, VirtAddr value)>;
void forEachWord(const Program& program, const Words& visit) {
  for (const Elf64_Phdr& segment : program.image->segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) != 0) continue;
    const auto bytes = program.image->fromAddress({segment.p_vaddr});
    if (!bytes) continue;
    for (std::size_t i = (8 - segment.p_vaddr % 8) % 8; i + 8 <= bytes->size(); i += 8) {
      const VirtAddr value{*loader::readAt<std::uint64_t>(*bytes, i)};
      if (value.value != 0) visit({segment.p_vaddr + i}, value);
    }
  }
  if (const auto relocations = program.image->relocations())
    for (const loader::ElfRelocation& r : *relocations)
      if (r.type == R_X86_64_RELATIVE) visit(r.address, {std::uint64_t(r.addend)});
}

void skip(Program& program, VirtAddr address, SkipReason reason) {
  Function* f = program.functionAt(address);
  if (f != nullptr && f->skip == SkipReason::None) f->skip = reason;
}

void skipRestartable(Program& program) {
  std::vector<VirtAddr> starts;  // where descriptors hold the address that their sequence starts at
  forEachWord(program, [&](VirtAddr at, VirtAddr value) {
    if (!program.isCode(value)) return;
    const auto signature = load<std::uint32_t>(*program.image, {value.value - 4});
    if (signature != kRseqSignature) return;
    skip(program, value, SkipReason::RestartableSequence);
    starts.push_back({at.value - kStartToAbort});
  });
  if (starts.empty()) return;
  std::ranges::sort(starts);
  forEachWord(program, [&](VirtAddr at, VirtAddr value) {
    if (std::ranges::binary_search(starts, at)) skip(program, value, SkipReason::RestartableSequence);
  });
}

void skipPatchable(Program& program) {
  const loader::ElfImage& image = *program.image;
  const auto in = [](const Elf64_Shdr* s, VirtAddr a) {
    return a.value >= s->sh_addr && a.value - s->sh_addr < s->sh_size;
  };
  if (const Elf64_Shdr* section = image.section("__patchable_function_entries")) {
    forEachWord(program, [&](VirtAddr at, VirtAddr value) {
      if (!in(section, at)) return;
      skip(program, value, SkipReason::PatchedWhileRunning);
      // With no-ops in front of a function too, the address is theirs.
      for (std::uint64_t i = 1; i < 16; ++i)
        if (const Function* f = program.functionStartingAt({value.value + i}))
          skip(program, f->start, SkipReason::PatchedWhileRunning);
    });
  }
  if (const Elf64_Shdr* section = image.section("xray_instr_map")) {
    for (std::uint64_t i = 0; i + kXrayEntrySize <= section->sh_size; i += kXrayEntrySize) {
      const VirtAddr at{section->sh_addr + i};
      if (const auto value = load<std::uint64_t>(image, at)) {
        skip(program, {at.value + *value}, SkipReason::PatchedWhileRunning);  // relative since version 2
        skip(program, {*value}, SkipReason::PatchedWhileRunning);
      }
    }
  }
}

// push rbp; mov rbp, rsp, in the encoding that V8's own assembler alone uses; push the frame's type (v8,
// src/builtins/x64/builtins-x64.cc, JSEntry).
constexpr auto kMachineEntry = std::to_array<std::uint8_t>({0x55, 0x48, 0x8b, 0xec, 0x6a});

void skipMachineEntries(Program& program) {
  for (Function& f : program.functions) {
    const auto bytes = program.codeAt(f.start, kMachineEntry.size());
    if (f.skip == SkipReason::None && std::ranges::equal(bytes, std::as_bytes(std::span(kMachineEntry))))
      f.skip = SkipReason::MachineEntry;
  }
}

}  // namespace

void applyCodeRules(Program& program) {
  skipRestartable(program);
  skipPatchable(program);
  skipMachineEntries(program);
}

}  // namespace traceback::instrument
