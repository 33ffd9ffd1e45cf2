#include "runtime/inject/modules/modules.h"

#include <link.h>
#include <sys/mman.h>
#include <time.h>

#include "runtime/format/record.h"
#include "runtime/inject/kernel/files.h"
#include "runtime/inject/kernel/lock.h"
#include "runtime/inject/modules/brought_cursors.h"
#include "runtime/inject/modules/module_tables.h"
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

// What handlers need to know of a bound module; read without a lock. An entry is used again once its module
// is unloaded.
struct BoundModule {
  const ModuleHeader* header;  // null once it is unloaded
  std::uint64_t bias;
  std::uint64_t copyStart, copyEnd;  // run-time addresses
  unsigned index;                    // in the process file's table
};
constinit BoundModule bound[format::kMaxModules];
constinit unsigned boundCount = 0;

// Headers that were looked at, whether or not they could be bound: one is not looked at twice.
struct Seen {
  const ModuleHeader* header;
  unsigned index;
  bool present;
};
constinit Seen seen[format::kMaxModules];
constinit unsigned seenCount = 0;

// By which modules' routines callees are not trusted with the cursor any more.
enum : unsigned { kByNone, kByNewOnes, kByAll };
constinit unsigned calleesDistrusted = kByNone;
constinit Lock distrusting;

constinit Lock lock;
constinit unsigned long long lastAdds = 0, lastSubs = 0;

struct Segment {
  std::uint64_t start, end;
};

// The loaded segment that holds all of [address, address + size), with at least these permissions.
bool findSegment(const dl_phdr_info& info, std::uint64_t address, std::uint64_t size, unsigned flags,
                 Segment& found) {
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & flags) != flags) continue;
    const std::uint64_t start = info.dlpi_addr + segment.p_vaddr;
    if (address < start || size > segment.p_memsz || address - start > segment.p_memsz - size) continue;
    found = {start, start + segment.p_memsz};
    return true;
  }
  return false;
}

const ModuleHeader* findHeader(const dl_phdr_info& info, Segment& where) {
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_R | PF_X)) != (PF_R | PF_X) ||
        segment.p_filesz < sizeof(ModuleHeader) || segment.p_vaddr % 4096 != 0)
      continue;
    const auto* header = reinterpret_cast<const ModuleHeader*>(info.dlpi_addr + segment.p_vaddr);
    if (header->magic != format::kModuleMagic) continue;
    where = {info.dlpi_addr + segment.p_vaddr, info.dlpi_addr + segment.p_vaddr + segment.p_memsz};
    return header;
  }
  return nullptr;
}

bool tableFits(std::uint64_t offset, std::uint64_t count, std::uint64_t each, std::uint64_t total) {
  return count <= total / each && offset <= total && total - offset >= count * each && offset % 4 == 0;
}

// Everything that is used below lies where it should.
bool isSound(const dl_phdr_info& info, const ModuleHeader& header, const Segment& where) {
  const std::uint64_t size = where.end - where.start;
  Segment slots;
  return header.headerSize >= format::kOldestModuleHeaderSize &&
         header.address + info.dlpi_addr == where.start &&
         header.moduleSlots % alignof(format::ModuleSlots) == 0 &&
         findSegment(info, info.dlpi_addr + header.moduleSlots, sizeof(format::ModuleSlots), PF_R | PF_W,
                     slots) &&
         tableFits(header.addressOffset, header.addressCount, sizeof(format::AddressEntry), size) &&
         tableFits(header.fixupOffset, header.fixupCount, sizeof(std::uint32_t), size) &&
         tableFits(header.routineOffset, header.routineCount, sizeof(format::RecordRoutine), size) &&
         tableFits(header.bitRoutineOffset, header.bitRoutineCount, sizeof(format::BitRoutine), size) &&
         tableFits(header.loadRoutineOffset, header.loadRoutineCount, sizeof(format::LoadRoutine), size) &&
         tableFits(header.broughtHeadOffset, header.broughtHeadCount, sizeof(format::BroughtHead), size) &&
         header.copyStart <= header.copyEnd && header.copyStart >= header.address &&
         header.copyEnd - header.address <= size && header.codeBase >= format::kFirstCode &&
         header.codeSpan <= format::kEndCode - format::kFirstCode &&
         header.codeBase <= format::kEndCode - header.codeSpan;
}

bool isBound(const ProcessModule& module) {
  return module.bindState == static_cast<std::uint32_t>(BindState::Bound);
}

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

bool hasSameMap(const ProcessModule& module, const std::uint8_t (&mapId)[16]) {
  return memcmp(module.mapId, mapId, sizeof mapId) == 0;
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

// Moves the head probes' records to other codes. None of them can run yet.
bool rebase(const ModuleHeader& header, const Segment& where, std::uint32_t distance) {
  const std::uint64_t start = where.start & ~std::uint64_t{4095};
  const std::uint64_t size = ((where.end + 4095) & ~std::uint64_t{4095}) - start;
  const auto* fixups = reinterpret_cast<const std::uint32_t*>(where.start + header.fixupOffset);
  const std::uint64_t total = where.end - where.start;
  for (std::uint32_t i = 0; i < header.fixupCount; ++i)
    if (fixups[i] > total - sizeof(Word)) return false;
  if (failed(systemCall(__NR_mprotect, static_cast<long>(start), static_cast<long>(size),
                        PROT_READ | PROT_WRITE)))
    return false;
  for (std::uint32_t i = 0; i < header.fixupCount; ++i) {
    Word word;
    auto* at = reinterpret_cast<void*>(where.start + fixups[i]);
    memcpy(&word, at, sizeof word);
    word += distance;
    memcpy(at, &word, sizeof word);
  }
  if (!failed(systemCall(__NR_mprotect, static_cast<long>(start), static_cast<long>(size),
                         PROT_READ | PROT_EXEC)))
    return true;
  // It must be executable whatever happens; as it was before is the next best.
  systemCall(__NR_mprotect, static_cast<long>(start), static_cast<long>(size),
             PROT_READ | PROT_WRITE | PROT_EXEC);
  return true;
}

bool isProgram(const dl_phdr_info& info) { return info.dlpi_name == nullptr || *info.dlpi_name == 0; }

void setPath(const dl_phdr_info& info, const ModuleHeader* header, ProcessModule& module) {
  auto* to = reinterpret_cast<char*>(module.path);
  constexpr std::size_t kSize = sizeof module.path;
  // The dynamic linker knows a library by the name of its original, but a copy from the cache is there.
  if (!process.environment.cache.empty()) {
    mappedFile(reinterpret_cast<std::uint64_t>(header), to, kSize);
    if (to[0] != 0) return;
  }
  const char* name = info.dlpi_name;
  if (isProgram(info)) {
    const long size = systemCall(__NR_readlink, asLong("/proc/self/exe"), asLong(to), kSize - 1);
    to[failed(size) ? 0 : size] = 0;
    return;
  }
  std::size_t used = 0;
  if (*name != '/') {
    const long size = systemCall(__NR_getcwd, asLong(to), kSize - 2);
    if (!failed(size) && size > 0) {
      used = static_cast<std::size_t>(size) - 1;
      to[used++] = '/';
    }
  }
  if (strlen(name) >= kSize - used) {
    to[0] = 0;
    return;
  }
  memcpy(to + used, name, strlen(name) + 1);
}

void fillBounds(const dl_phdr_info& info, ProcessModule& module) {
  module.loadBias = info.dlpi_addr;
  module.start = ~std::uint64_t{0};
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uint64_t start = info.dlpi_addr + segment.p_vaddr;
    if (start < module.start) module.start = start;
    if (start + segment.p_memsz > module.end) module.end = start + segment.p_memsz;
  }
}

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

// Two threads at it would take the page from each other.
void distrust(const ModuleHeader& header, std::uint64_t bias) {
  const Locked locked(distrusting);
  loadBroughtCursors(header, bias);
}

void openForProbes(const dl_phdr_info& info, const ModuleHeader& header, unsigned index) {
  unsigned free = 0;
  while (free < boundCount && bound[free].header != nullptr) ++free;
  BoundModule& entry = bound[free];
  entry.bias = info.dlpi_addr;
  entry.index = index;
  __atomic_store_n(&entry.header, &header, __ATOMIC_SEQ_CST);
  __atomic_store_n(&entry.copyStart, info.dlpi_addr + header.copyStart, __ATOMIC_RELEASE);
  __atomic_store_n(&entry.copyEnd, info.dlpi_addr + header.copyEnd,
                   __ATOMIC_RELEASE);  // last: none is in an empty range
  if (free == boundCount) __atomic_store_n(&boundCount, boundCount + 1, __ATOMIC_SEQ_CST);
  format::ModuleSlots* slots = &slotsOf(header, info.dlpi_addr);
  memcpy(slots->wrap, traceback_wrap_entries, sizeof slots->wrap);
  memcpy(slots->wrapKept, traceback_wrap_kept_entries, sizeof slots->wrapKept);
  if (__atomic_load_n(&calleesDistrusted, __ATOMIC_SEQ_CST) != kByNone) distrust(header, entry.bias);
  __atomic_store_n(&slots->bound, std::uint64_t{1}, __ATOMIC_RELEASE);
}

void forget(unsigned position) {
  const Seen gone = seen[position];
  for (unsigned k = 0; k < boundCount; ++k)
    if (bound[k].header == gone.header && bound[k].index == gone.index) {
      __atomic_store_n(&bound[k].copyEnd, std::uint64_t{0}, __ATOMIC_RELEASE);
      __atomic_store_n(&bound[k].copyStart, std::uint64_t{0}, __ATOMIC_RELEASE);
      __atomic_store_n(&bound[k].header, nullptr, __ATOMIC_RELEASE);
    }
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
  return header.headerSize >= sizeof header && (header.flags & format::kModuleKnown) != 0;
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
  setPath(info, header, module);
  memcpy(module.mapId, header->mapId, sizeof module.mapId);
  module.codeBase = header->codeBase;
  module.codeSpan = header->codeSpan;
  BindState state = BindState::VersionMismatch;
  if (header->version >= format::kOldestModuleVersion && header->version <= format::kModuleVersion &&
      isSound(info, *header, where))
    state = !threadSlotInPlace()               ? BindState::NoThreadSlot
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

const ModuleHeader* headerOf(const BoundModule& module) {
  return __atomic_load_n(&module.header, __ATOMIC_ACQUIRE);
}

const BoundModule* moduleOf(std::uint64_t address) {
  const unsigned count = __atomic_load_n(&boundCount, __ATOMIC_ACQUIRE);
  for (unsigned i = 0; i < count; ++i)
    if (address < __atomic_load_n(&bound[i].copyEnd, __ATOMIC_ACQUIRE) &&
        address >= __atomic_load_n(&bound[i].copyStart, __ATOMIC_ACQUIRE))
      return &bound[i];
  return nullptr;
}

}  // namespace

void bindNewModules() {
  if (process.environment.off || process.sandboxed) return;
  // Again until nothing has changed meanwhile: whoever did not wait long enough relies on that.
  for (;;) {
    unsigned long long counters[2] = {0, 0};
    dl_iterate_phdr(readCounters, counters);
    if (counters[0] == __atomic_load_n(&lastAdds, __ATOMIC_ACQUIRE) &&
        counters[1] == __atomic_load_n(&lastSubs, __ATOMIC_ACQUIRE))
      return;
    SignalsBlocked blocked;
    if (!lockSoon()) return;
    dl_iterate_phdr(readCounters, counters);
    if (counters[0] != lastAdds || counters[1] != lastSubs) {
      for (unsigned i = 0; i < seenCount; ++i) seen[i].present = false;
      dl_iterate_phdr(considerObject, nullptr);
      forgetUnloaded();
      // Not before: others take it for done.
      __atomic_store_n(&lastAdds, counters[0], __ATOMIC_RELEASE);
      __atomic_store_n(&lastSubs, counters[1], __ATOMIC_RELEASE);
    }
    lock.unlock();
  }
}

void forgetModuleLock() {
  lock = Lock();
  distrusting = Lock();
}

bool anyModuleBound() { return __atomic_load_n(&boundCount, __ATOMIC_ACQUIRE) != 0; }

bool isInCopy(std::uint64_t address) { return moduleOf(address) != nullptr; }

namespace {

// The entry for an address in a copy; null if there is none.
const format::AddressEntry* entryFor(const BoundModule& module, std::uint64_t address) {
  const ModuleHeader& header = *headerOf(module);
  const std::span<const format::AddressEntry> entries = addressesOf(header);
  const std::uint64_t linked = address - module.bias;
  std::uint32_t low = 0, high = header.addressCount;  // the last entry whose `copy` is not above
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (entries[middle].copy <= linked)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? nullptr : &entries[low - 1];
}

std::uint64_t behindCall(std::uint64_t original) {
  const auto* code = reinterpret_cast<const std::uint8_t*>(original);
  constexpr unsigned kMostPrefixes = 4;
  for (unsigned i = 0; i < kMostPrefixes; ++i) {
    const std::uint8_t byte = code[i];
    if (byte == 0xE8) return original + i + 5;
    if ((byte & 0xF0) != 0x40 && byte != 0x66 && byte != 0xF2 && byte != 0xF3 && byte != 0x3E) break;
  }
  return 0;
}

}  // namespace

std::uint64_t originalAddress(std::uint64_t address) {
  const BoundModule* module = moduleOf(address);
  if (module == nullptr || headerOf(*module) == nullptr) return address;
  const format::AddressEntry* const found = entryFor(*module, address);
  if (found == nullptr) return address;
  const format::AddressEntry entry = *found;
  const std::uint64_t linked = address - module->bias;
  const std::uint64_t original = entry.original & ~format::kAddressFixed;
  const std::uint64_t distance = (entry.original & format::kAddressFixed) != 0 ? 0 : linked - entry.copy;
  return module->bias + original + distance;
}

std::uint64_t originalReturnAddress(std::uint64_t address) {
  const BoundModule* module = moduleOf(address - 1);
  if (module == nullptr || headerOf(*module) == nullptr) return address;
  const format::AddressEntry* const call = entryFor(*module, address - 1);
  if (call == nullptr) return address;
  // Direct calls are of another length in the copy.
  const std::uint64_t last = originalAddress(address - 1);
  if ((call->original & format::kAddressFixed) == 0) return last + 1;
  if (const std::uint64_t behind = behindCall(last); behind != 0) return behind;
  // The original's code was made unreadable (poison mode, a debugger): mostly the next instruction follows.
  constexpr unsigned kLongest = 15, kUsual = 5;
  const auto& header = *headerOf(*module);
  const bool isLast = call == &addressesOf(header).back();
  const std::uint64_t next =
      isLast ? 0 : module->bias + (call[1].original & ~std::uint64_t{format::kAddressFixed});
  return next > last && next - last <= kLongest ? next : last + kUsual;
}

RoutineAt routineAt(std::uint64_t address) {
  const unsigned count = __atomic_load_n(&boundCount, __ATOMIC_ACQUIRE);
  for (unsigned i = 0; i < count; ++i) {
    const ModuleHeader* header = headerOf(bound[i]);
    // They are between the header and the copies.
    if (header == nullptr || address < reinterpret_cast<std::uint64_t>(header) ||
        address >= __atomic_load_n(&bound[i].copyStart, __ATOMIC_ACQUIRE))
      continue;
    const auto link = static_cast<std::uint32_t>(address - bound[i].bias);
    for (const format::BitRoutine& routine : bitRoutinesOf(*header))
      if (link - routine.start < routine.size)
        return {.bit = &routine, .start = bound[i].bias + routine.start};
    for (const format::LoadRoutine& routine : loadRoutinesOf(*header))
      if (link - routine.start < routine.size)
        return {.load = &routine, .start = bound[i].bias + routine.start};
    for (const format::RecordRoutine& routine : recordRoutinesOf(*header))
      if (link - routine.start < routine.wrap + format::kRoutineWrapSize)
        return {.record = &routine, .start = bound[i].bias + routine.start};
    return {};
  }
  return {};
}

void distrustCallees() {
  if (__atomic_load_n(&calleesDistrusted, __ATOMIC_SEQ_CST) == kByAll) return;
  __atomic_store_n(&calleesDistrusted, kByNewOnes, __ATOMIC_SEQ_CST);
  const unsigned count = __atomic_load_n(&boundCount, __ATOMIC_SEQ_CST);
  for (unsigned i = 0; i < count; ++i)
    if (const ModuleHeader* header = headerOf(bound[i])) distrust(*header, bound[i].bias);
  __atomic_store_n(&calleesDistrusted, kByAll, __ATOMIC_SEQ_CST);
}

}  // namespace traceback::inject
