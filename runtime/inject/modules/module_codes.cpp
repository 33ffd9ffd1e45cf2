#include "runtime/inject/modules/module_codes.h"

#include "runtime/format/record.h"
#include "runtime/inject/modules/writable_code.h"
#include "runtime/inject/process/process.h"

namespace traceback::inject {

namespace {

using format::BindState;
using format::ModuleHeader;
using format::ProcessModule;
using format::Word;

bool overlaps(std::uint64_t base, std::uint64_t span, const ProcessModule& other) {
  return base < std::uint64_t{other.codeBase} + other.codeSpan && other.codeBase < base + span;
}

// Codes of unloaded modules stay taken, for rings still hold them.
bool codesAreFree(std::uint64_t base, std::uint64_t span) {
  for (unsigned i = 0; i < moduleCount(); ++i) {
    const ProcessModule& other = moduleTable()[i];
    if (isBound(other) && overlaps(base, span, other)) return false;
  }
  return base >= format::kFirstCode && base + span <= format::kEndCode;
}

// The codes that the same file had before it was unloaded, unless it is loaded a second time and has them; or
// 0.
std::uint64_t formerCodes(const ProcessModule& module) {
  for (unsigned i = 0; i < moduleCount(); ++i) {
    const ProcessModule& former = moduleTable()[i];
    if (!isBound(former) || former.unloaded == 0 || !hasSameMap(former, module.mapId) ||
        former.codeSpan != module.codeSpan)
      continue;
    bool inUse = false;
    for (unsigned k = 0; k < moduleCount() && !inUse; ++k) {
      const ProcessModule& other = moduleTable()[k];
      inUse = isBound(other) && other.unloaded == 0 && overlaps(former.codeBase, former.codeSpan, other);
    }
    if (!inUse) return former.codeBase;
  }
  return 0;
}

// A free run of codes at a distance that keeps every DAG aligned; 0 if there is none.
std::uint64_t findCodes(std::uint64_t base, std::uint64_t span) {
  constexpr std::uint64_t kAlignment = std::uint64_t{1} << format::kMaxPathBits;
  const std::uint64_t remainder = base % kAlignment;
  for (unsigned i = 0; i <= moduleCount(); ++i) {
    std::uint64_t candidate = format::kFirstCode;
    if (i < moduleCount()) candidate = std::uint64_t{moduleTable()[i].codeBase} + moduleTable()[i].codeSpan;
    candidate = (candidate + kAlignment - 1) / kAlignment * kAlignment + remainder;
    if (codesAreFree(candidate, span)) return candidate;
  }
  return 0;
}

// By one instruction, which writes as it reads: a page that is read first is met by two faults, and the
// second one interrupts the other processors.
void addToWord(std::uint64_t address, std::uint32_t distance) {
  __asm__ volatile("addl %1, (%0)" : : "r"(address), "ri"(distance) : "memory", "cc");
}

// Moves the head probes' records to other codes. None of them can run yet; original code, which is in the
// same pages, may run in other threads all the time.
bool rebase(const ModuleHeader& header, const Segment& where, std::uint32_t distance) {
  const auto* fixups = reinterpret_cast<const std::uint32_t*>(where.start + header.fixupOffset);
  const std::uint64_t total = where.end - where.start;
  for (std::uint32_t i = 0; i < header.fixupCount; ++i)
    if (fixups[i] > total - sizeof(Word)) return false;
  const WritableCode writable(where.start, where.end);
  if (!writable) return false;
  static_assert(sizeof(Word) == sizeof distance);
  for (std::uint32_t i = 0; i < header.fixupCount; ++i) addToWord(where.start + fixups[i], distance);
  return true;
}

}  // namespace

BindState chooseCodes(const ModuleHeader& header, const Segment& where, ProcessModule& module) {
  std::uint64_t base = formerCodes(module);
  if (base == 0)
    base = codesAreFree(header.codeBase, header.codeSpan) ? header.codeBase
                                                          : findCodes(header.codeBase, header.codeSpan);
  if (base == 0) return BindState::CodesTaken;
  if (base != header.codeBase && !rebase(header, where, static_cast<std::uint32_t>(base - header.codeBase)))
    return BindState::CodesTaken;
  module.codeBase = static_cast<std::uint32_t>(base);
  return BindState::Bound;
}

}  // namespace traceback::inject
