#include "handed_in.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/clock.h"
#include "runtime/inject/rings/ring_file.h"
#include "runtime/inject/rings/ring_layout.h"
#include "runtime/inject/rings/ring_memory.h"
#include "runtime/inject/rings/ring_table.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/rings/segment.h"
#include "runtime/inject/rings/wrap.h"
#include "runtime/inject/signals/alternate_stack.h"
#include "runtime/inject/signals/held_faults.h"
#include "runtime/inject/signals/own_fault.h"
#include "runtime/inject/snaps/collector.h"

extern "C" {
// What rings.cpp calls here instead of pthread_setspecific() and pthread_key_create().
int handed_in_setspecific(pthread_key_t, const void*) noexcept { return 0; }
int handed_in_key_create(pthread_key_t*, void (*)(void*)) noexcept { return 0; }
}

namespace traceback::testing {

namespace {

struct RingMemory {
  explicit RingMemory(std::size_t wanted)
      : size(wanted), bytes(new(std::align_val_t{format::kWindowSize}) std::uint8_t[wanted]()) {}
  ~RingMemory() { ::operator delete[](bytes, std::align_val_t{format::kWindowSize}); }
  RingMemory(const RingMemory&) = delete;
  RingMemory& operator=(const RingMemory&) = delete;
  std::size_t size;
  std::uint8_t* bytes;
};

std::mutex filesLock;
std::map<std::string, std::unique_ptr<RingMemory>> files;
std::vector<std::unique_ptr<RingMemory>> former;  // threads that are about to end may still look there
std::atomic<bool> memoryIsThere = true;
std::atomic<bool> ringsAreUnmapped = false;
std::atomic<unsigned> mappings = 0;
std::atomic<std::uint64_t> now = 1;
alignas(4096) format::ProcessHeader header;

// Not in thread-local storage itself, which would move the slots from their place.
std::uint8_t* fakeStackEnd() {
  constexpr std::size_t kSize = 64 * 1024;
  thread_local const auto stack = std::make_unique<std::uint8_t[]>(kSize);
  return stack.get() + kSize;
}

}  // namespace

void beginProcess(std::uint64_t mostRings) {
  const std::lock_guard guard(filesLock);
  for (auto& [name, memory] : files) former.push_back(std::move(memory));
  files.clear();
  inject::forgetRings();
  std::memset(&header, 0, sizeof header);
  inject::process.environment.bufferSize = 1 << 16;
  inject::process.environment.mostRings = mostRings;
  inject::process.recording = true;
  inject::process.sandboxed = false;
  inject::process.pid = static_cast<std::uint32_t>(::getpid());
  inject::process.file = &header;
  memoryIsThere = true;
  ringsAreUnmapped = false;
  mappings = 0;
  inject::traceback_probation = {-sizeof(format::Word),   0, 0, 1, 1, 0, 1, 0,
                                 {format::kCursorStep, 0}};  // as in wrap.S
}

void setMemoryIsThere(bool isThere) { memoryIsThere = isThere; }

void unmapEndedRings() { ringsAreUnmapped = true; }

unsigned mappedRings() { return mappings; }

void letPass(std::uint64_t ticks) { now += ticks; }

void countEveryRecord(bool all) { inject::process.environment.historyCounts = all; }

void beginFiltering() { inject::process.sandboxed = true; }

const format::ProcessHeader& processFile() { return header; }

void forkHere() {
  {
    const std::lock_guard guard(filesLock);  // it has a folder of its own
    for (auto& [name, memory] : files) former.push_back(std::move(memory));
    files.clear();
  }
  inject::childStarted(true);
}

std::map<std::string, RingDump> ringFiles() {
  const std::lock_guard guard(filesLock);
  std::map<std::string, RingDump> dumps;
  for (const auto& [name, memory] : files)
    if (auto dump = dumpRing(std::vector(memory->bytes, memory->bytes + memory->size)))
      dumps.emplace(name, std::move(*dump));
  return dumps;
}

std::thread startThread(std::function<void()> does) {
  return std::thread([does = std::move(does)] {
    does();
    inject::threadEnds();
  });
}
void inThread(std::function<void()> does) { startThread(std::move(does)).join(); }

void head(std::uint32_t code, std::uint64_t stackPointer) {
  inject::Word* cursor = inject::cursorOf(*inject::slot());
  if (format::isAtWindowEnd(reinterpret_cast<std::uint64_t>(cursor)))
    cursor = traceback_step(stackPointer - inject::kWrapFrameSize, 0, false);
  if (cursor == nullptr) cursor = traceback_wrap(stackPointer, nullptr);
  inject::writeHead(*inject::slot(), cursor, format::dagRecord(code));
}

Handler::Handler(int signal, unsigned depth)
    : m_context(reinterpret_cast<ucontext_t*>(fakeStackEnd() - (depth + 1) * std::size_t{4096})) {
  std::memset(m_context, 0, sizeof *m_context);
  m_context->uc_stack.ss_flags = SS_DISABLE;
  m_context->uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(outside());
  siginfo_t info{};
  info.si_signo = signal;
  inject::beginSignal(m_interrupted, signal, info, *m_context, format::kSignalHandled);
}

void Handler::returns() { inject::endSignal(m_interrupted, *m_context); }

std::uint64_t Handler::within() const { return reinterpret_cast<std::uint64_t>(m_context) - 512; }
std::uint64_t Handler::outside() const { return reinterpret_cast<std::uint64_t>(m_context) + 2048; }

}  // namespace traceback::testing

namespace traceback::inject {

using namespace traceback::testing;

constinit Process process;

// In wrap.S, where the runtime is injected.
extern "C" {
SegmentHeader traceback_probation;
}

std::uint64_t timeStamp() { return ++now; }
std::uint64_t processorTicks() { return now; }

std::uint32_t rawPid() { return static_cast<std::uint32_t>(::getpid()); }
std::uint32_t rawTid() { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }
bool inForkedChild() { return false; }
bool inOwnProcess() { return true; }
bool openProcessFile() { return true; }
void removeEndedNeighbours() {}
void withdrawProcessFolder() {}
bool restoreProcessFolder() { return true; }
void childStarted(bool) {
  ++process.generation;
  Thread& t = thread();
  forgetRings();
  t.ring = nullptr;
  t.level = 0;
  t.gapPending = false;
  t.state = ThreadState::Probation;
  setSlot(&traceback_probation);
}

// All of it: contexts are only those of Interrupted.
bool isRuntimeCode(std::uint64_t) { return true; }

void startWatcher() {}
void makeAlternateStack(Thread&) {}
void dropAlternateStack(Thread&) {}
void leaveLostRing() {}
void holdBlocked(std::uint64_t) {}
void leaveGhost(ucontext_t&) {}

RingName fileName(const Ring& ring) {
  RingName name;
  name.add(std::uint64_t{ring.nameTid}).add("-").add(std::uint64_t{ring.number}).add(".ring");
  return name;
}

bool mapRing(Ring& ring, std::uint64_t size, const char* formerName) {
  if (!memoryIsThere) return false;
  const std::lock_guard guard(filesLock);
  std::unique_ptr<RingMemory> memory;
  if (formerName != nullptr) {
    const auto found = files.find(formerName);
    if (found == files.end() || found->second->size != size) return false;
    memory = std::move(found->second);
    files.erase(found);
  } else {
    memory = std::make_unique<RingMemory>(size);
  }
  if (ring.header == nullptr) ++mappings;
  ring.header = reinterpret_cast<format::RingHeader*>(memory->bytes);
  ring.size = size;
  if (formerName == nullptr) setMemory(ring, Ring::Memory::None);
  files.emplace(fileName(ring).c_str(), std::move(memory));
  return beginMemory(ring);
}

bool isStillMapped(const Ring&) { return !ringsAreUnmapped; }

bool mapReserve(Ring& ring, std::uint64_t size, unsigned, bool) { return mapRing(ring, size); }
bool allocateMapped(void*, std::uint64_t) { return memoryIsThere; }
// The file stays.
void unmapRing(Ring& ring) { ring.header = nullptr; }
void restRing(Ring&) {}

}  // namespace traceback::inject
