#include "runtime/inject/rings/ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/vfs.h>

#include "runtime/inject/kernel/files.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/ring_layout.h"
#include "runtime/inject/rings/ring_memory.h"
#include "runtime/inject/rings/ring_table.h"

namespace traceback::inject {

namespace {

constexpr int kHow = O_RDWR | O_NOFOLLOW | O_CLOEXEC;

// Leaves room for others: a full memory file system would harm the program that shares it.
bool roomFor(long file, std::uint64_t size) {
  struct statfs status{};
  if (failed(systemCall(__NR_fstatfs, file, asLong(&status)))) return false;
  const auto block = static_cast<std::uint64_t>(status.f_bsize);
  return status.f_blocks == 0 ||
         status.f_bavail >= 4 * (size / block + 1);  // 0: a file system without a limit
}

bool allocate(long file, std::uint64_t size) {
  return !failed(systemCall(__NR_fallocate, file, 0, 0, static_cast<long>(size)));
}

// A descriptor of the new file, or an error.
long makeFile(int folder, const Ring& ring) {
  return systemCall(__NR_openat, folder, asLong(fileName(ring).c_str()), kHow | O_CREAT | O_EXCL, 0600);
}
void removeFile(int folder, const Ring& ring) {
  systemCall(__NR_unlinkat, folder, asLong(fileName(ring).c_str()), 0);
}

bool rename(int folder, const Ring& ring, const char* former) {
  return !failed(systemCall(__NR_renameat, folder, asLong(former), folder, asLong(fileName(ring).c_str())));
}

// Addresses for a mapping, which begins where a window does; 0 if there are none.
std::uint64_t findPlace(std::uint64_t size) {
  constexpr std::uint64_t kWindow = format::kWindowSize;
  const long all = systemCall(__NR_mmap, 0, static_cast<long>(size + kWindow), PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (failed(all)) return 0;
  const auto start = static_cast<std::uint64_t>(all);
  const std::uint64_t place = (start + kWindow - 1) / kWindow * kWindow, before = place - start;
  if (before != 0) systemCall(__NR_munmap, all, static_cast<long>(before));
  if (before != kWindow)
    systemCall(__NR_munmap, static_cast<long>(place + size), static_cast<long>(kWindow - before));
  return place;
}

// Where no place is given it finds one.
long map(long file, std::uint64_t given, std::uint64_t size) {
  const std::uint64_t place = given != 0 ? given : findPlace(size);
  if (place == 0) return -ENOMEM;
  const long mapping = systemCall(__NR_mmap, static_cast<long>(place), static_cast<long>(size),
                                  PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  if (failed(mapping)) {
    if (given == 0) systemCall(__NR_munmap, static_cast<long>(place), static_cast<long>(size));
    return mapping;
  }
  systemCall(__NR_madvise, mapping, static_cast<long>(size), MADV_DONTFORK);
  systemCall(__NR_madvise, mapping, static_cast<long>(size), MADV_DONTDUMP);
  return mapping;
}

void setMapping(Ring& ring, long mapping, std::uint64_t size) {
  ring.header = reinterpret_cast<format::RingHeader*>(mapping);
  ring.size = size;
}

// mlockall(MCL_FUTURE): all memory of a mapping is there as soon as it is made.
bool isLocked(const Ring& ring) {
  unsigned char resident = 0;
  return !failed(systemCall(__NR_mincore, asLong(ring.header) + static_cast<long>(ring.size - kPage), kPage,
                            asLong(&resident))) &&
         (resident & 1) != 0;
}

// Memory for the header; for all of it where the kernel could not give parts of it later (before 5.14).
bool startMemory(long file, Ring& ring) {
  ring.historyIsThere = false;
  setMemory(ring, Ring::Memory::None);
  if (allocateMapped(ring.header, kPage)) {
    if (isLocked(ring)) setMemory(ring, Ring::Memory::Whole);
    return true;
  }
  if (!allocate(file, ring.size)) return false;
  setMemory(ring, Ring::Memory::Whole);
  return true;
}

// With the memory that `bringMemory` gives it, or not at all.
bool mapEmpty(long file, Ring& ring, std::uint64_t size, bool (*bringMemory)(Ring&)) {
  if (failed(systemCall(__NR_ftruncate, file, static_cast<long>(size)))) return false;
  const long mapping = map(file, 0, size);
  if (failed(mapping)) return false;
  setMapping(ring, mapping, size);
  if (startMemory(file, ring) && bringMemory(ring)) return true;
  unmapRing(ring);
  return false;
}

bool mapCopy(long file, Ring& ring, std::uint64_t size) {
  const auto place = reinterpret_cast<std::uint64_t>(ring.header);
  if (!allocate(file, size) || !copyMapping(static_cast<int>(file), place, size) ||
      failed(map(file, place, size)))
    return false;
  ring.historyIsThere = true;
  setMemory(ring, Ring::Memory::Whole);
  return true;
}

bool mapNew(int folder, Ring& ring, std::uint64_t size) {
  const long file = makeFile(folder, ring);
  if (failed(file)) return false;
  const bool isMapped =
      roomFor(file, ringMemory()) && mayMakeFile(size) &&
      (ring.header == nullptr ? mapEmpty(file, ring, size, beginMemory) : mapCopy(file, ring, size));
  systemCall(__NR_close, file);
  if (!isMapped) removeFile(folder, ring);
  return isMapped;
}

bool mapFormer(int folder, Ring& ring, std::uint64_t size, const char* former) {
  if (ring.header != nullptr) return rename(folder, ring, former);
  const long file = systemCall(__NR_openat, folder, asLong(former), kHow);
  if (failed(file)) return false;
  const long mapping = map(file, 0, size);
  systemCall(__NR_close, file);
  if (failed(mapping)) return false;
  setMapping(ring, mapping, size);
  if (beginMemory(ring) && rename(folder, ring, former)) return true;
  unmapRing(ring);
  return false;
}

bool addressesAreLimited() {
  struct rlimit limit{};
  return failed(systemCall(__NR_prlimit64, 0, RLIMIT_AS, 0, asLong(&limit))) ||
         limit.rlim_cur != RLIM_INFINITY;
}

}  // namespace

RingName fileName(const Ring& ring) {
  RingName name;
  name.add(std::uint64_t{ring.nameTid}).add("-").add(std::uint64_t{ring.number}).add(".ring");
  return name;
}

bool mapRing(Ring& ring, std::uint64_t size, const char* former) {
  const int folder = openProcessFolder();
  if (folder < 0) return false;
  const bool isMapped =
      former == nullptr ? mapNew(folder, ring, size) : mapFormer(folder, ring, size, former);
  systemCall(__NR_close, folder);
  return isMapped;
}

bool isStillMapped(const Ring& ring) {
  if (ring.header == nullptr || !isMapped(ring.header, ring.size)) return false;
  const format::RingHeader& header = *ring.header;
  return header.magic == format::kRingMagic && header.pid == process.pid && header.tid == ring.tid;
}

bool mapReserve(Ring& ring, std::uint64_t size, unsigned count, bool allocated) {
  if (count > kMostAllocated && addressesAreLimited()) return false;
  const int folder = openProcessFolder();
  if (folder < 0) return false;
  const long file = makeFile(folder, ring);
  bool isMapped = false;
  if (!failed(file)) {
    const auto none = [](Ring&) { return true; };
    isMapped = mayMakeFile(size) && roomFor(file, ringMemory() * (allocated ? 1 : count)) &&
               mapEmpty(file, ring, size, allocated ? bringInWhole : none);
    systemCall(__NR_close, file);
    if (!isMapped) removeFile(folder, ring);
  }
  systemCall(__NR_close, folder);
  return isMapped;
}

bool allocateMapped(void* start, std::uint64_t size) {
  return !failed(systemCall(__NR_madvise, asLong(start), static_cast<long>(size), MADV_POPULATE_WRITE));
}

void restRing(Ring& ring) {
  if (addressesAreLimited()) return unmapRing(ring);
  systemCall(__NR_munlock, asLong(ring.header), static_cast<long>(ring.size));
}

void unmapRing(Ring& ring) {
  systemCall(__NR_munmap, asLong(ring.header), static_cast<long>(ring.size));
  ring.header = nullptr;
}

}  // namespace traceback::inject
