#include "instrument/analysis/program.h"

#include <algorithm>
#include <unordered_map>

#include "instrument/parallel.h"
#include "instrument/unwind/lsda.h"

namespace traceback::instrument {
namespace {

using format::SkipReason;
using model::fail;
using model::Result;

std::vector<CodeRange> codeRanges(const loader::ElfImage& image) {
  std::vector<CodeRange> out;
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (const auto bytes = image.fromAddress({segment.p_vaddr}))
      out.push_back({{segment.p_vaddr}, {segment.p_vaddr + bytes->size()}, *bytes});
  }
  return out;
}

// Function symbols by address: names, and which are IFUNC resolvers.
struct Names {
  std::unordered_map<std::uint64_t, std::string_view> byAddress;
  std::vector<VirtAddr> resolvers;
};

void addNames(Names& names, const Result<std::vector<loader::ElfSymbol>>& symbols) {
  if (!symbols) return;  // damaged symbols cost the names
  for (const loader::ElfSymbol& symbol : *symbols) {
    if (!symbol.defined()) continue;
    if (symbol.type() == STT_GNU_IFUNC) names.resolvers.push_back(symbol.address);
    if (symbol.type() != STT_FUNC && symbol.type() != STT_GNU_IFUNC) continue;
    const auto [it, added] = names.byAddress.try_emplace(symbol.address.value, symbol.name);
    // Of several names the one that others link to.
    if (!added && symbol.binding() == STB_GLOBAL) it->second = symbol.name;
  }
}

Names functionNames(const loader::ElfImage& image) {
  Names names;
  addNames(names, image.symbols());
  addNames(names, image.dynamicSymbols());
  if (const auto relocations = image.relocations())
    for (const loader::ElfRelocation& r : *relocations)
      if (r.type == R_X86_64_IRELATIVE) names.resolvers.push_back({std::uint64_t(r.addend)});
  std::ranges::sort(names.resolvers);
  return names;
}

bool isStartupSection(std::string_view name) {
  return name == ".init" || name == ".fini" || name.starts_with(".plt");
}

std::vector<CodeRange> startupRanges(const loader::ElfImage& image) {
  std::vector<CodeRange> out;
  for (const Elf64_Shdr& section : image.sections())
    if (isStartupSection(image.sectionName(section)))
      out.push_back({{section.sh_addr}, {section.sh_addr + section.sh_size}, {}});
  return out;
}

SkipReason decodeFunction(const Program& program, Function& f) {
  auto bytes = program.codeAt(f.start, f.size);
  if (bytes.empty()) return SkipReason::BadDecode;
  f.instructions.reserve(std::size_t(f.size) / 4);
  bool behindCall = false;  // below the stack pointer there is still the address that the callee returned to
  for (VirtAddr at = f.start; !bytes.empty();) {
    const auto insn = decode(bytes, at);
    if (!insn) return SkipReason::BadDecode;
    if (insn->unsafe) return SkipReason::UnsafeInstruction;
    if (insn->flow == Flow::IndirectJump) f.hasIndirectJump = true;
    if (insn->usesSplitStackLimit && f.skip == SkipReason::None) f.skip = SkipReason::SplitStack;
    // To see whether it came back from where it should (clang's speculative load hardening).
    if (behindCall && insn->namesBelowStack && !insn->isLea && !insn->storesOnStack &&
        f.skip == SkipReason::None)
      f.skip = SkipReason::UnsafeInstruction;
    behindCall =
        isCall(insn->flow) || (behindCall && !insn->endsBlock() && insn->stack == 0 && !insn->storesOnStack);
    f.instructions.push_back(*insn);
    at = insn->end();
    bytes = bytes.subspan(insn->length);
  }
  f.instructions.shrink_to_fit();
  f.decoded = true;
  return SkipReason::None;
}

SkipReason findLandingPads(const Program& program, const Fde& fde, Function& f) {
  if (fde.lsda.value == 0) return SkipReason::None;
  const auto lsda = readLsda(*program.image, program.ehFrame, fde);
  f.landingPads = lsda ? landingPads(*lsda) : readLandingPads(*program.image, program.ehFrame, fde);
  return lsda ? SkipReason::None : SkipReason::BadExceptionTable;
}

void skipOverlaps(std::vector<Function>& functions) {
  for (std::size_t i = 0; i + 1 < functions.size(); ++i) {
    if (functions[i].end() <= functions[i + 1].start) continue;
    functions[i].skip = SkipReason::OverlappingFunctions;
    functions[i + 1].skip = SkipReason::OverlappingFunctions;
  }
}

}  // namespace

bool isProfiler(std::string_view name) {
  return name == "mcount" || name == "_mcount" || name == "__fentry__";
}

bool Program::isCode(VirtAddr address) const {
  return std::ranges::any_of(code, [&](const CodeRange& range) { return range.contains(address); });
}

std::span<const std::byte> Program::codeAt(VirtAddr address, std::uint64_t size) const {
  const auto there = codeFrom(address);
  return size > there.size() ? std::span<const std::byte>{} : there.first(size);
}

std::span<const std::byte> Program::codeFrom(VirtAddr address) const {
  const auto range =
      std::ranges::find_if(code, [&](const CodeRange& each) { return each.contains(address); });
  return range == code.end() ? std::span<const std::byte>{}
                             : range->bytes.subspan(address.value - range->start.value);
}

const Function* Program::functionAt(VirtAddr address) const {
  const auto it = std::ranges::upper_bound(functions, address, {}, &Function::start);
  if (it == functions.begin()) return nullptr;
  const Function& f = *std::prev(it);
  return f.contains(address) ? &f : nullptr;
}

Function* Program::functionAt(VirtAddr address) {
  return const_cast<Function*>(std::as_const(*this).functionAt(address));
}

const Function* Program::functionStartingAt(VirtAddr address) const {
  const Function* f = functionAt(address);
  return f != nullptr && f->start == address ? f : nullptr;
}

Result<Program> readProgram(const loader::ElfImage& image, unsigned threads) {
  Program program;
  program.image = &image;
  program.code = codeRanges(image);
  auto frame = readEhFrame(image);
  if (!frame) return std::unexpected(frame.error());
  program.ehFrame = std::move(*frame);

  const Names names = functionNames(image);
  const std::vector<CodeRange> startup = startupRanges(image);
  for (std::size_t i = 0; i < program.ehFrame.fdes.size(); ++i) {
    const Fde& fde = program.ehFrame.fdes[i];
    if (fde.size == 0) continue;
    Function f;
    f.fde = i;
    f.start = fde.start;
    f.size = fde.size;
    if (const auto name = names.byAddress.find(fde.start.value); name != names.byAddress.end())
      f.name = name->second;
    const auto contains = [&](const CodeRange& range) { return range.contains(fde.start); };
    if (program.ehFrame.cies[fde.cie].signalFrame) {
      f.skip = SkipReason::SignalFrame;
    } else if (f.contains(image.entry()) || std::ranges::any_of(startup, contains)) {
      f.skip = SkipReason::StartupCode;
    } else if (std::ranges::binary_search(names.resolvers, fde.start)) {
      f.skip = SkipReason::Resolver;
    }
    program.functions.push_back(std::move(f));
  }
  std::ranges::sort(program.functions, {}, [](const Function& f) { return std::pair(f.start, f.size); });
  skipOverlaps(program.functions);
  // Skipped functions are decoded too: where they jump to matters to the others.
  forEachIndex(program.functions.size(), threads, [&](std::size_t i) {
    Function& f = program.functions[i];
    const SkipReason code = decodeFunction(program, f);
    const SkipReason exceptions = findLandingPads(program, program.ehFrame.fdes[f.fde], f);
    if (f.skip == SkipReason::None) f.skip = code != SkipReason::None ? code : exceptions;
  });
  if (program.functions.empty()) return fail("no functions: its unwind tables are empty", image.path());
  return program;
}

}  // namespace traceback::instrument
