#include "instrument/analysis/eligibility.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <format>

#include "runtime/format/map.h"
#include "runtime/format/module.h"
#include "runtime/format/ring.h"

namespace traceback::instrument {
namespace {

using loader::ElfImage;
using model::Result;

constexpr std::uint32_t kIntegrityNote = 0xCAFE2A8E;
constexpr std::string_view kGoBuildInfo = "\xff Go buildinf:";

// Tables by return address have an entry for every call that may collect garbage: for most. In other programs
// the few words of data that equal a return address are labels of computed gotos, or chance.
constexpr std::size_t kFewReturnAddresses = 64;
constexpr std::size_t kCallsPerReturnAddress = 10;  // at least every tenth call

// A quarter of the code has to have unwind tables, unless next to all of it is start-up code.
constexpr std::uint64_t kLeastCoverage = 4;
constexpr std::uint64_t kSmallCode = 64 << 10;

// A program that is linked statically may be relocatable all the same; libraries have no DT_DEBUG.
bool isStatic(const ElfImage& image) {
  if (image.segment(PT_DYNAMIC) == nullptr) return true;
  if (image.segment(PT_INTERP) != nullptr) return false;
  return image.dynamicValue(DT_DEBUG).has_value() ||
         (image.dynamicValue(DT_FLAGS_1).value_or(0) & DF_1_PIE) != 0;
}

// Libraries that can be run have an interpreter, too.
bool isProgram(const ElfImage& image) {
  return image.segment(PT_INTERP) != nullptr &&
         (image.type() == ET_EXEC || image.dynamicValue(DT_DEBUG).has_value());
}

bool isGo(const ElfImage& image) {
  for (const char* section : {".note.go.buildid", ".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo"})
    if (image.section(section) != nullptr) return true;
  if (std::ranges::any_of(image.notes(), [](const loader::ElfNote& note) { return note.name == "Go"; }))
    return true;
  // Without sections and notes: the build information, which is aligned to 16 bytes in a writable segment.
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const auto bytes = image.fromAddress({segment.p_vaddr});
    if (!bytes) continue;
    for (std::size_t i = (16 - segment.p_vaddr % 16) % 16; i + kGoBuildInfo.size() <= bytes->size(); i += 16)
      if (std::memcmp(bytes->data() + i, kGoBuildInfo.data(), kGoBuildInfo.size()) == 0) return true;
  }
  return false;
}

bool hasSymbol(const ElfImage& image, std::initializer_list<std::string_view> names) {
  const auto in = [&](const Result<std::vector<loader::ElfSymbol>>& symbols) {
    return symbols && std::ranges::any_of(*symbols, [&](const loader::ElfSymbol& symbol) {
             return symbol.defined() && std::ranges::find(names, symbol.name) != names.end();
           });
  };
  return in(image.symbols()) || in(image.dynamicSymbols());
}

bool contains(loader::Bytes bytes, std::string_view text) {
  const std::string_view all{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  return all.find(text) != std::string_view::npos;
}

// The reason why a file that checks its own bytes is known to do so; empty if it is not.
std::string selfCheck(const ElfImage& image) {
  for (const loader::ElfNote& note : image.notes())
    if (note.type == kIntegrityNote && note.name == "FDO") return "a note of it";
  if (hasSymbol(image, {"OSSL_provider_init"}))
    for (const Elf64_Phdr& segment : image.segments())
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0)
        if (const auto bytes = image.fromAddress({segment.p_vaddr});
            bytes && contains(*bytes, "OpenSSL FIPS Provider"))
          return "OpenSSL's FIPS provider";
  namespace fs = std::filesystem;
  const fs::path path = image.path();
  const std::string name = path.filename().string();
  std::error_code ignored;
  for (const std::string& beside : {"." + name + ".hmac", name + ".hmac", "fipscheck/" + name + ".hmac",
                                    "fipscheck/." + name + ".hmac", path.stem().string() + ".chk"})
    if (fs::is_regular_file(path.parent_path() / beside, ignored)) return beside + " beside it";
  return {};
}

}  // namespace

bool isInstrumented(const ElfImage& image) {
  if (image.section(format::kMapSection) != nullptr) return true;
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const auto bytes = image.bytesAt({segment.p_vaddr}, sizeof format::kModuleMagic);
    if (bytes && std::memcmp(bytes->data(), &format::kModuleMagic, sizeof format::kModuleMagic) == 0)
      return true;
  }
  return false;
}

std::int32_t threadSlotBeside(const ElfImage& image) {
  const Elf64_Phdr* storage = image.segment(PT_TLS);
  // A library's comes behind the runtime's.
  if (storage == nullptr || !isProgram(image)) return format::kThreadSlot;
  return format::threadSlotBeside(storage->p_memsz, storage->p_align);
}

Result<void> checkFile(const ElfImage& image, std::int32_t threadSlot) {
  const auto refuse = [&](std::string why) { return model::fail(std::move(why), image.path()); };
  if (image.type() == ET_REL) return refuse("an object file or kernel module: only what is linked can run");
  if (image.type() == ET_CORE) return refuse("a core file, not a program or shared library");
  if (image.type() != ET_DYN && image.type() != ET_EXEC) return refuse("not a program or shared library");
  if (isInstrumented(image)) return refuse("is instrumented already");
  if (const auto soname = image.dynamicValue(DT_SONAME))
    if (const auto name = image.dynamicString(*soname)) {
      if (name->starts_with("ld-linux")) return refuse("the dynamic loader is left as it is");
      if (name->starts_with("linux-vdso") || name->starts_with("linux-gate"))
        return refuse("the kernel's own library (vDSO) is left as it is");
      if (*name == "libtraceback.so") return refuse("the recorder itself is left as it is");
    }
  if (isStatic(image)) return refuse("statically linked: only dynamic programs can be recorded");
  if (image.dynamicValue(DT_TEXTREL) || (image.dynamicValue(DT_FLAGS).value_or(0) & DF_TEXTREL) != 0)
    return refuse("has text relocations: its code is changed as it is loaded");
  for (const Elf64_Phdr& segment : image.segments())
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && (segment.p_flags & PF_W) != 0)
      return refuse("has writable code");
  if (isProgram(image) && threadSlotBeside(image) != threadSlot)
    return refuse(
        "a program with more than 4 KB of thread-local storage: only `traceback run` and its copies know "
        "where its ring is");
  if (isGo(image))
    return refuse("a Go program: its runtime finds tables by the addresses that calls return to");
  if (hasSymbol(image, {"caml_frametable", "caml_system__frametable", "caml_startup__frametable"}))
    return refuse("an OCaml program: its runtime finds tables by the addresses that calls return to");
  if (hasSymbol(image, {"stg_upd_frame_info", "stg_ap_v_info"}))
    return refuse("a Haskell program: its runtime finds tables in front of its code");
  if (const std::string how = selfCheck(image); !how.empty())
    return refuse(std::format("checks its own bytes ({}): it would refuse to work if changed", how));
  return {};
}

namespace {

bool returnsTo(const Program& program, VirtAddr address) {
  const Function* f = program.functionAt(address);
  if (f == nullptr) return false;
  const auto i = f->instructionAt(address);
  if (i < 1) return false;
  const Flow before = f->instructions[std::size_t(i) - 1].flow;
  return isCall(before);
}

std::size_t returnAddressesInData(const Program& program) {
  std::vector<VirtAddr> found;
  const auto look = [&](VirtAddr address) {
    if (program.isCode(address) && returnsTo(program, address)) found.push_back(address);
  };
  for (const Elf64_Phdr& segment : program.image->segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) != 0) continue;
    const auto bytes = program.image->fromAddress({segment.p_vaddr});
    if (!bytes) continue;
    for (std::size_t i = (8 - segment.p_vaddr % 8) % 8; i + 8 <= bytes->size(); i += 8) {
      VirtAddr word;
      std::memcpy(&word.value, bytes->data() + i, sizeof word.value);
      look(word);
    }
  }
  if (const auto relocations = program.image->relocations())
    for (const loader::ElfRelocation& r : *relocations) look({std::uint64_t(r.addend)});
  std::ranges::sort(found);
  return std::size_t(std::ranges::unique(found).begin() - found.begin());
}

}  // namespace

Result<void> checkCode(const Program& program) {
  const auto refuse = [&](std::string why) { return model::fail(std::move(why), program.image->path()); };
  std::uint64_t covered = 0, all = 0;
  std::size_t calls = 0;
  for (const Function& f : program.functions) {
    covered += f.size;
    for (const Instruction& insn : f.instructions)
      if (isCall(insn.flow)) ++calls;
  }
  for (const CodeRange& range : program.code) all += range.bytes.size();
  const std::size_t tabled = returnAddressesInData(program);
  if (tabled > kFewReturnAddresses && tabled > calls / kCallsPerReturnAddress)
    return refuse(
        "its data has the addresses that its calls return to: its runtime (as OCaml's) finds tables by them");
  if (all > kSmallCode && covered < all / kLeastCoverage)
    return refuse(
        "most of its code has no unwind tables (as Haskell's and Go's has none): little could be recorded");
  return {};
}

}  // namespace traceback::instrument
