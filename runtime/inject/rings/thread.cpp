#include "runtime/inject/rings/thread.h"

#include <utility>

#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

namespace {

inline constexpr unsigned kSlots = format::kThreadBlockSize / sizeof(SegmentHeader*);

struct ThreadBlock {
  Thread self;
  SegmentHeader* slots[kSlots];
};

template <std::size_t... I>
constexpr ThreadBlock initialBlock(std::index_sequence<I...>) {
  return {Thread{}, {((void)I, &traceback_probation)...}};
}

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadBlock block =
    initialBlock(std::make_index_sequence<kSlots>());

static_assert(sizeof(Thread) % format::kThreadBlockAlignment == 0 &&
              sizeof(ThreadBlock) == sizeof(Thread) + format::kThreadBlockSize);

// Whole windows, with what may be before the first: older linkers do not put a library where it wants to be.
// Of each only the last page is ever touched. The first is for who is on probation. The others are for
// threads whose records nobody reads, which take them in turn, and may have the same one, which takes time
// alone.
constexpr unsigned kDiscardWindows = 32;
constinit std::uint8_t windows[(1 + kDiscardWindows + 1) * format::kWindowSize] = {};
constinit unsigned windowsTaken = 0;

std::uint64_t endOfWindow(unsigned number) {
  const std::uint64_t first = reinterpret_cast<std::uint64_t>(windows) / format::kWindowSize + 1;
  return (first + number + 1) * format::kWindowSize;
}

std::int64_t placeOfSpill(unsigned number) { return threadSlot + format::kFirstSpill + 8 * number; }

}  // namespace

Thread& thread() { return block.self; }

Word* lastCursor() { return reinterpret_cast<Word*>(endOfWindow(0)) - 2; }
void resetProbation() {
  const std::uint64_t end = reinterpret_cast<std::uint64_t>(lastCursor() + 1);
  if (traceback_probation.cursor != end) __atomic_store_n(&traceback_probation.cursor, end, __ATOMIC_RELAXED);
}

void saveSpills(Spills& spills) {
  for (unsigned i = 0; i < format::kSpillSlots; ++i)
    __asm__ volatile("movq %%fs:(%1), %0" : "=r"(spills.words[i]) : "r"(placeOfSpill(i)) : "memory");
}
void restoreSpills(const Spills& spills) {
  for (unsigned i = 0; i < format::kSpillSlots; ++i)
    __asm__ volatile("movq %0, %%fs:(%1)" ::"r"(spills.words[i]), "r"(placeOfSpill(i)) : "memory");
}

constinit std::int64_t threadSlot = format::kThreadSlot;

bool isThreadSlotInPlace(std::int64_t place) {
  std::uint64_t threadPointer;
  __asm__("movq %%fs:0, %0" : "=r"(threadPointer));
  const auto address = threadPointer + static_cast<std::uint64_t>(place);
  const auto start = reinterpret_cast<std::uint64_t>(block.slots);
  return address >= start && address + format::kThreadSlotBytes <= start + sizeof block.slots;
}

namespace {

constinit bool tidIsInDescriptor = false;

std::uint32_t wordOfDescriptor() {
  constexpr int kPlace = 720;  // of `tid` in struct pthread, on x86-64
  std::uint32_t word;
  __asm__ volatile("movl %%fs:%c1, %0" : "=r"(word) : "i"(kPlace));
  return word;
}

}  // namespace

std::uint32_t tidOfDescriptor() { return tidIsInDescriptor ? wordOfDescriptor() : 0; }
void findTidInDescriptor() {
  tidIsInDescriptor = wordOfDescriptor() == static_cast<std::uint32_t>(systemCall(__NR_gettid));
}

void enterDiscard(Thread& t) {
  if (t.discardWindow == 0)
    t.discardWindow = static_cast<std::uint8_t>(1 + __atomic_fetch_add(&windowsTaken, 1u, __ATOMIC_RELAXED) %
                                                        kDiscardWindows);
  const std::uint64_t base = endOfWindow(t.discardWindow) - kDiscardWords * sizeof(Word);
  t.discard = {base, base, 0, kDiscardWords, 1, 0, kDiscardWords, 0, {format::kCursorStep, 0}};
  compilerBarrier();
  setSlot(&t.discard);
}

}  // namespace traceback::inject
