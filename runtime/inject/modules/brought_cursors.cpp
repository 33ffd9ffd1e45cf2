#include "runtime/inject/modules/brought_cursors.h"

#include "runtime/inject/kernel/lock.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/modules/bound_modules.h"
#include "runtime/inject/modules/module_tables.h"
#include "runtime/inject/modules/writable_code.h"

namespace traceback::inject {

namespace {

constexpr std::uint64_t kJump = 0xE9, kCall = 0xE8, kSize = 5;
static_assert(format::kBroughtHeadSize == kSize && format::kBroughtHeadWithin == sizeof(std::uint64_t));

// A jump or a call, by one store: who comes there meets the one instruction or the other, both of five bytes.
void writeOver(std::uint64_t from, std::uint64_t opcode, std::uint64_t to) {
  constexpr std::uint64_t kStore = sizeof(std::uint64_t);
  auto* const place = reinterpret_cast<std::uint64_t*>(from / kStore * kStore);
  const std::uint64_t shift = 8 * (from % kStore), bytes = (std::uint64_t{1} << (8 * kSize)) - 1;
  const auto distance = static_cast<std::uint32_t>(to - (from + kSize));
  const std::uint64_t instruction = opcode | std::uint64_t{distance} << 8;
  const std::uint64_t before = __atomic_load_n(place, __ATOMIC_RELAXED);
  __atomic_store_n(place, (before & ~(bytes << shift)) | instruction << shift, __ATOMIC_SEQ_CST);
}

void replaceRoutines(std::span<const format::RecordRoutine> routines, std::uint64_t bias) {
  if (routines.empty()) return;
  const WritableCode pages(bias + routines.front().start, bias + routines.back().start);
  if (!pages) return;
  for (std::size_t i = 0; i + 1 < routines.size(); ++i)
    if ((routines[i].keeps & format::kRoutineBroughtCursor) != 0)
      writeOver(bias + routines[i].start, kJump, bias + routines[i + 1].start);
}

void replaceHeads(std::span<const format::BroughtHead> heads, std::uint64_t bias) {
  if (heads.empty()) return;
  const WritableCode pages(bias + heads.front().start, bias + heads.back().start + kSize);
  if (!pages) return;
  for (const format::BroughtHead& head : heads)
    if (head.start % format::kBroughtHeadWithin + kSize <= format::kBroughtHeadWithin)
      writeOver(bias + head.start, kCall, bias + head.routine);
}

// By which modules' routines and heads callees are not trusted any more.
enum : unsigned { kByNone, kByNewOnes, kByAll };
constinit unsigned calleesDistrusted = kByNone;
constinit Lock distrusting;

// Two threads at it would take the page from each other.
void loadBroughtCursors(const format::ModuleHeader& header, std::uint64_t bias) {
  const Locked locked(distrusting);
  replaceRoutines(recordRoutinesOf(header), bias);
  replaceHeads(broughtHeadsOf(header), bias);
}

}  // namespace

void distrustCallees() {
  if (__atomic_load_n(&calleesDistrusted, __ATOMIC_SEQ_CST) == kByAll) return;
  __atomic_store_n(&calleesDistrusted, kByNewOnes, __ATOMIC_SEQ_CST);
  for (const BoundModule& module : boundModules())
    if (const format::ModuleHeader* header = headerOf(module)) loadBroughtCursors(*header, module.bias);
  __atomic_store_n(&calleesDistrusted, kByAll, __ATOMIC_SEQ_CST);
}

void distrustIfOthersAre(const format::ModuleHeader& header, std::uint64_t bias) {
  if (__atomic_load_n(&calleesDistrusted, __ATOMIC_SEQ_CST) != kByNone) loadBroughtCursors(header, bias);
}

void forgetDistrustLock() { distrusting = Lock(); }

}  // namespace traceback::inject
