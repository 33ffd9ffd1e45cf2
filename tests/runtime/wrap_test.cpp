// Steps to the next sub-buffer (runtime/inject/rings/wrap.h) that are done without a system call, in this
// process: when they may be, and what a signal finds that interrupts one.
#include <QTest>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <thread>

#include "handed_in.h"
#include "runtime/inject/rings/hold.h"
#include "runtime/inject/rings/segment.h"
#include "runtime/inject/rings/wrap.h"

using namespace traceback;
using namespace traceback::testing;

namespace {

constexpr std::uint32_t kCode = format::kFirstCode;
constexpr std::uint64_t kStack = 0x7000'0000;

// Up to the end of the sub-buffer in use.
void fill(std::uint64_t stackPointer) {
  do head(kCode, stackPointer);
  while (!inject::atSubBufferEnd(*inject::slot()));
}

// At the end of a sub-buffer, the thread having been looked at a short while ago.
void begin() {
  beginProcess();
  fill(kStack);
  head(kCode, kStack);
  letPass(1 << 22);
  fill(kStack);
  head(kCode, kStack);
  fill(kStack);
}

inject::Word* step(std::uint64_t stackPointer = kStack) {
  return traceback_step(stackPointer - inject::kWrapFrameSize, 0, false);
}

}  // namespace

class WrapTest : public QObject {
  Q_OBJECT

 private slots:
  void whatLeadsIntoARingThatIsGoneLeadsToTheRuntime() {
    constexpr std::uint64_t kRing = 0x7000'0000'0000, kSize = 1 << 20;
    _libc_fpstate vectors{};
    ucontext_t context{};
    context.uc_mcontext.fpregs = &vectors;
    greg_t* const registers = context.uc_mcontext.gregs;
    registers[REG_RAX] = kRing + format::kRingHeaderSize;
    registers[REG_R15] = kRing + kSize - 4;
    registers[REG_RBX] = kRing + 128;  // a header
    registers[REG_RCX] = kRing + kSize;
    registers[REG_RSP] = kRing + 8192;
    const std::uint64_t kept = kRing + 8192;
    std::memcpy(&vectors._xmm[15], &kept, sizeof kept);
    inject::divertCursors(context, kRing, kSize);
    const auto last = reinterpret_cast<std::uint64_t>(inject::lastCursor());
    QVERIFY(!format::isAtWindowEnd(last));
    QVERIFY(format::isAtWindowEnd(last + sizeof(format::Word)));
    QCOMPARE(static_cast<std::uint64_t>(registers[REG_RAX]), last);
    QCOMPARE(static_cast<std::uint64_t>(registers[REG_R15]), last);
    QCOMPARE(static_cast<std::uint64_t>(registers[REG_RBX]), kRing + 128);
    QCOMPARE(static_cast<std::uint64_t>(registers[REG_RCX]), kRing + kSize);
    QCOMPARE(static_cast<std::uint64_t>(registers[REG_RSP]), kRing + 8192);
    std::uint64_t now = 0;
    std::memcpy(&now, &vectors._xmm[15], sizeof now);
    QCOMPARE(now, last);
  }

  void theNextSubBufferIsSteppedTo() {
    inThread([] {
      begin();
      const std::uint64_t ordinal = inject::slot()->ordinal;
      inject::Word* const cursor = step();
      QVERIFY(cursor != nullptr);
      QCOMPARE(inject::slot()->ordinal, ordinal + 1);
      QCOMPARE(cursor, inject::cursorOf(*inject::slot()));
      QVERIFY(inject::wordsLeft(*inject::slot()) != 0);
      inject::writeHead(*inject::slot(), cursor, format::dagRecord(kCode));
    });
    const auto rings = ringFiles();
    QCOMPARE(rings.size(), std::size_t(1));
    QCOMPARE(rings.begin()->second.segments.at(0).damaged, 0U);
  }

  // Whether another has the same thread-local storage takes a system call.
  void whoRunsOnAnotherStackIsLookedAt() {
    inThread([] {
      begin();
      QVERIFY(step(kStack - (1 << 20)) == nullptr);
      QVERIFY(step(kStack + (1 << 20)) == nullptr);
      QVERIFY(step(kStack - 4096) != nullptr);
    });
  }

  void whoWasNotLookedAtForLongIs() {
    inThread([] {
      begin();
      letPass(1 << 22);
      QVERIFY(step() == nullptr);
      QVERIFY(traceback_wrap(kStack, nullptr) != nullptr);
      fill(kStack);
      QVERIFY(step() != nullptr);
    });
  }

  void whoIsHeldDoesNotGoOn() {
    inThread([] {
      begin();
      std::atomic<bool> held = false, enough = false;
      std::thread other([&] {
        const inject::Hold hold;
        held = true;
        while (!enough) std::this_thread::yield();
      });
      while (!held) std::this_thread::yield();
      QVERIFY(step() == nullptr);
      enough = true;
      other.join();
      QVERIFY(step() != nullptr);
    });
  }

  void handlersGoTheLongWay() {
    inThread([] {
      begin();
      Handler handler(SIGUSR1, 0);
      QVERIFY(step(handler.within()) == nullptr);
      handler.returns();
      QVERIFY(step() != nullptr);
    });
  }

  void whereEveryRecordIsCountedNoneIsSteppedOver() {
    inThread([] {
      begin();
      countEveryRecord(true);
      QVERIFY(step() == nullptr);
      countEveryRecord(false);
      QVERIFY(step() != nullptr);
    });
  }

  // As if the wrap was done: all registers are the function's, and the cursor is where it is expected.
  void whoIsInterruptedGoesOnBehindTheWrap() {
    inThread([] {
      begin();
      alignas(16) std::array<std::uint64_t, 64> stack{};
      constexpr std::size_t kFrame = 16, kScratch = 6, kWords = 17;
      for (std::size_t i = 0; i < kWords; ++i) stack[kFrame + i] = 100 + i;
      stack[kFrame + 15] = 0x202;
      const auto frame = reinterpret_cast<std::uint64_t>(&stack[kFrame]);
      inject::thread().step = {frame, kScratch, true};
      ucontext_t context{};
      _libc_fpstate vectors{};
      context.uc_mcontext.fpregs = &vectors;
      context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(frame - 64);
      context.uc_mcontext.gregs[REG_EFL] = 0x346;  // stepped
      const siginfo_t info{};
      const std::uint64_t ordinal = inject::slot()->ordinal;
      inject::leaveWrap(SIGUSR1, info, context);
      const auto& registers = context.uc_mcontext.gregs;
      const auto cursor = reinterpret_cast<greg_t>(inject::cursorOf(*inject::slot()));
      QCOMPARE(inject::slot()->ordinal, ordinal + 1);
      constexpr int kOrder[] = {REG_R15, REG_R14, REG_R13, REG_R12, REG_R11, REG_R10, REG_R9, REG_R8,
                                REG_RBP, REG_RDI, REG_RSI, REG_RBX, REG_RCX, REG_RDX, REG_RAX};
      for (std::size_t i = 0; i < std::size(kOrder); ++i)
        QCOMPARE(registers[kOrder[i]], i == kScratch ? cursor : static_cast<greg_t>(100 + i));
      QCOMPARE(registers[REG_EFL], greg_t{0x302});
      QCOMPARE(registers[REG_RIP], greg_t{116});
      QCOMPARE(static_cast<std::uint64_t>(registers[REG_RSP]), frame + inject::kWrapFrameSize);
      greg_t kept = 0;
      std::memcpy(&kept, &vectors._xmm[15], sizeof kept);
      QCOMPARE(kept, cursor);
      // Once only.
      context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(frame - 64);
      inject::leaveWrap(SIGUSR1, info, context);
      QCOMPARE(registers[REG_RIP], greg_t{116});
      QCOMPARE(registers[REG_RSP], static_cast<greg_t>(frame - 64));
    });
  }

  void whoKeepsTheHeadersAddressGetsTheNewSegments() {
    beginProcess();
    inThread([] {
      std::array<std::uint64_t, inject::kWrapRegisters> registers{};
      for (std::size_t i = 0; i < registers.size(); ++i) registers[i] = 100 + i;
      const auto probation = reinterpret_cast<std::uint64_t>(inject::slot());
      registers[3] = registers[9] = probation;
      QVERIFY(traceback_wrap(kStack, registers.data()) != nullptr);
      const auto own = reinterpret_cast<std::uint64_t>(inject::slot());
      QVERIFY(own != probation);
      for (std::size_t i = 0; i < registers.size(); ++i)
        QCOMPARE(registers[i], i == 3 || i == 9 ? own : std::uint64_t{100 + i});
      // Where the segment stays, so do they.
      registers[3] = probation;
      QVERIFY(traceback_wrap(kStack, registers.data()) != nullptr);
      QCOMPARE(registers[3], probation);
      QCOMPARE(registers[9], own);
    });
  }

  void whatTheStepItselfMeetsIsMetThereAgain() {
    inThread([] {
      begin();
      std::array<std::uint64_t, 64> stack{};
      const auto frame = reinterpret_cast<std::uint64_t>(&stack[16]);
      inject::thread().step = {frame, 0, false};
      ucontext_t context{};
      context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(frame - 64);
      context.uc_mcontext.gregs[REG_RIP] = 4711;
      siginfo_t info{};
      info.si_code = SEGV_MAPERR;
      inject::leaveWrap(SIGSEGV, info, context);
      QCOMPARE(context.uc_mcontext.gregs[REG_RIP], greg_t{4711});
      QCOMPARE(inject::thread().step.frame, std::uint64_t{0});
    });
  }
};

QTEST_GUILESS_MAIN(WrapTest)
#include "wrap_test.moc"
