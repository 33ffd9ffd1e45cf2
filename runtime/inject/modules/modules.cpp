#include "runtime/inject/modules/modules.h"

#include <link.h>
#include <time.h>

#include "runtime/format/module.h"
#include "runtime/inject/kernel/lock.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/modules/bound_modules.h"
#include "runtime/inject/modules/brought_cursors.h"
#include "runtime/inject/modules/loaded_file.h"
#include "runtime/inject/modules/module_codes.h"
#include "runtime/inject/process/learning.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/thread.h"

extern "C" const std::uint64_t traceback_wrap_entries[16];
extern "C" const std::uint64_t traceback_wrap_kept_entries[16];

namespace traceback::inject {

namespace {

using format::BindState;
using format::ModuleHeader;
using format::ProcessModule;

// Headers that were looked at, whether or not they could be bound: one is not looked at twice.
struct Seen {
  const ModuleHeader* header;
  unsigned index;
  bool present;
};
constinit Seen seen[format::kMaxModules];
constinit unsigned seenCount = 0;

constinit Lock lock;
constinit unsigned long long lastAdds = 0, lastSubs = 0;

inline constexpr unsigned kNoEntry = ~0u;

// The table's entry for a module that was loaded: that of the same file in the same place, if it was
// unloaded, else a new one. Where many files come back in ever other places, that of the same file anywhere:
// addresses in records from before then have no module any more, their codes have. kNoEntry if the table is
// full.
unsigned enterModule(const ProcessModule& module) {
  unsigned elsewhere = kNoEntry;
  for (unsigned i = 0; i < moduleCount(); ++i) {
    const ProcessModule& former = moduleTable()[i];
    if (former.unloaded == 0 || former.bindState != module.bindState || former.codeBase != module.codeBase ||
        !hasSameMap(former, module.mapId) ||
        strcmp(reinterpret_cast<const char*>(former.path), reinterpret_cast<const char*>(module.path)) != 0)
      continue;
    if (former.loadBias == module.loadBias) return replaceModule(i, module), i;
    elsewhere = i;
  }
  if (elsewhere != kNoEntry && moduleCount() >= format::kMaxModules / 2)
    return replaceModule(elsewhere, module), elsewhere;
  return appendModule(module) ? moduleCount() - 1 : kNoEntry;
}

format::ModuleSlots& slotsOf(const ModuleHeader& header, std::uint64_t bias) {
  return *reinterpret_cast<format::ModuleSlots*>(bias + header.moduleSlots);
}

void openForProbes(const dl_phdr_info& info, const ModuleHeader& header, unsigned index) {
  addBoundModule(header, info.dlpi_addr, index);
  format::ModuleSlots* slots = &slotsOf(header, info.dlpi_addr);
  memcpy(slots->wrap, traceback_wrap_entries, sizeof slots->wrap);
  memcpy(slots->wrapKept, traceback_wrap_kept_entries, sizeof slots->wrapKept);
  distrustIfOthersAre(header, info.dlpi_addr);
  __atomic_store_n(&slots->bound, std::uint64_t{1}, __ATOMIC_RELEASE);
}

void forget(unsigned position) {
  const Seen gone = seen[position];
  removeBoundModule(gone.header, gone.index);
  markUnloaded(gone.index);
  seen[position] = seen[--seenCount];
}

// Not if that was unloaded meanwhile, and this is another, or the same once more, in its place.
bool isTheOneSeen(const ModuleHeader& header, const Seen& before, std::uint64_t bias) {
  const ProcessModule& module = moduleTable()[before.index];
  return hasSameMap(module, header.mapId) &&
         (!isBound(module) || (module.loadBias == bias && slotsOf(header, bias).bound != 0));
}

bool isKnown(const ModuleHeader& header) {
  return header.headerSize >= offsetof(ModuleHeader, threadSlot) &&
         (header.flags & format::kModuleKnown) != 0;
}

// The first module that is bound decides where all others have to look, too.
bool looksAtOurSlot(const ModuleHeader& header) {
  const std::int32_t place = format::threadSlotOf(header);
  if (!process.recording && isThreadSlotInPlace(place)) threadSlot = place;
  return place == threadSlot && isThreadSlotInPlace(place);
}

void consider(const dl_phdr_info& info) {
  Segment where;
  const ModuleHeader* header = findHeader(info, where);
  if (header == nullptr) return;
  for (unsigned i = 0; i < seenCount; ++i) {
    if (seen[i].header != header) continue;
    if (isTheOneSeen(*header, seen[i], info.dlpi_addr)) {
      seen[i].present = true;
      return;
    }
    forget(i);
    break;
  }
  static constinit ProcessModule module;  // large; guarded by the lock
  memset(&module, 0, sizeof module);
  fillBounds(info, module);
  setPath(info, where, module);
  memcpy(module.mapId, header->mapId, sizeof module.mapId);
  module.codeBase = header->codeBase;
  module.codeSpan = header->codeSpan;
  BindState state = BindState::VersionMismatch;
  if (header->version >= format::kOldestModuleVersion && header->version <= format::kModuleVersion &&
      isSound(info, *header, where))
    state = !looksAtOurSlot(*header)           ? BindState::NoThreadSlot
            : seenCount == format::kMaxModules ? BindState::TableFull
                                               : chooseCodes(*header, where, module);
  module.bindState = static_cast<std::uint32_t>(state);
  const unsigned index = enterModule(module);
  if (index == kNoEntry || seenCount == format::kMaxModules) return;
  seen[seenCount++] = {header, index, true};
  if (state != BindState::Bound) return;
  if (!process.recording) beginLearning(!isProgram(info) || isKnown(*header));
  process.recording = true;
  openForProbes(info, *header, index);
}

int considerObject(dl_phdr_info* info, std::size_t, void*) {
  consider(*info);
  return 0;
}

int readCounters(dl_phdr_info* info, std::size_t, void* counters) {
  auto* values = static_cast<unsigned long long*>(counters);
  values[0] = info->dlpi_adds;
  values[1] = info->dlpi_subs;
  return 1;
}

void forgetUnloaded() {
  for (unsigned i = 0; i < seenCount;)
    if (seen[i].present)
      ++i;
    else
      forget(i);
}

// Waits for another thread that is at it, but not for ever: that may wait for a lock of the linker's, which
// this one may hold as it asks (within a callback of dl_iterate_phdr).
bool lockSoon() {
  constexpr unsigned kTries = 200;
  for (unsigned i = 0; i < kTries; ++i) {
    if (lock.tryLock()) return true;
    const struct timespec pause{0, 100'000};
    systemCall(__NR_nanosleep, asLong(&pause), 0);
  }
  return false;
}

}  // namespace

void bindNewModules() {
  if (process.environment.off || process.sandboxed) return;
  // Again until nothing has changed meanwhile: whoever did not wait long enough relies on that.
  for (;;) {
    unsigned long long counters[2] = {0, 0};
    iterateObjects(readCounters, counters);
    if (counters[0] == __atomic_load_n(&lastAdds, __ATOMIC_ACQUIRE) &&
        counters[1] == __atomic_load_n(&lastSubs, __ATOMIC_ACQUIRE))
      return;
    SignalsBlocked blocked;
    if (!lockSoon()) return;
    iterateObjects(readCounters, counters);
    if (counters[0] != lastAdds || counters[1] != lastSubs) {
      for (unsigned i = 0; i < seenCount; ++i) seen[i].present = false;
      iterateObjects(considerObject, nullptr);
      forgetUnloaded();
      // Not before: others take it for done.
      __atomic_store_n(&lastAdds, counters[0], __ATOMIC_RELEASE);
      __atomic_store_n(&lastSubs, counters[1], __ATOMIC_RELEASE);
    }
    lock.unlock();
  }
}

void forgetModuleLocks() {
  lock = Lock();
  forgetDistrustLock();
}

}  // namespace traceback::inject
