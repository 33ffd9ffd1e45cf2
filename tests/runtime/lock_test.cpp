// The lock between a process's threads (runtime/inject/kernel/lock.h).
#define QT_NO_KEYWORDS  // the runtime has parameters of that name

#include <unistd.h>

#include <QFile>
#include <QTest>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/collect/watch/hang_watch.h"
#include "runtime/inject/kernel/lock.h"

using traceback::inject::Lock;

namespace {

// As the kernel has it: R for one that runs, S for one that sleeps.
char stateOf(pid_t tid) {
  QFile file(QStringLiteral("/proc/self/task/%1/stat").arg(tid));
  if (!file.open(QIODevice::ReadOnly)) return '?';
  const QByteArray stat = file.readAll();
  return stat.at(stat.lastIndexOf(')') + 2);
}

// A thread that takes the lock and lets go of it at once.
class Taker {
 public:
  template <typename AnyLock>
  explicit Taker(AnyLock& lock)
      : m_thread([&lock, this] {
          m_tid = gettid();
          lock.lock();
          m_had = true;
          lock.unlock();
        }) {}
  pid_t tid() const { return m_tid; }
  bool had() const { return m_had; }
  void join() { m_thread.join(); }

 private:
  std::atomic<pid_t> m_tid = 0;
  std::atomic<bool> m_had = false;
  std::thread m_thread;
};

}  // namespace

class LockTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void oneThreadAtATimeHoldsIt() {
    constexpr int kThreads = 4, kTimes = 50'000;
    Lock lock;
    long count = 0;  // no atomic: it is what the lock guards
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < kTimes; ++n) {
          lock.lock();
          ++count;
          lock.unlock();
        }
      });
    for (std::thread& thread : threads) thread.join();
    QCOMPARE(count, long{kThreads} * kTimes);
    QVERIFY(lock.tryLock());
  }

  void whoWaitsSleepsUntilItIsFree() {
    Lock lock;
    lock.lock();
    Taker first(lock), second(lock);
    QVERIFY(QTest::qWaitFor([&] { return stateOf(first.tid()) == 'S' && stateOf(second.tid()) == 'S'; }));
    QVERIFY(!first.had() && !second.had());
    lock.unlock();
    first.join();
    second.join();
    QVERIFY(first.had() && second.had());
  }

  void tryingDoesNotForgetWhoWaits() {
    Lock lock;
    QVERIFY(lock.tryLock());
    Taker taker(lock);
    QVERIFY(QTest::qWaitFor([&] { return stateOf(taker.tid()) == 'S'; }));
    QVERIFY(!lock.tryLock());
    lock.unlock();
    taker.join();
    QVERIFY(taker.had());
  }

  void itIsTakenForNoMutexThatHasAnOwner() {
    const auto seenToWait = [](const Taker& taker) {
      return std::ranges::contains(traceback::collect::waitingThreads(getpid()), taker.tid(),
                                   &traceback::collect::WaitingThread::tid);
    };
    // A mutex's owner lies eight bytes behind its state: here, a thread that is none.
    struct {
      Lock lock;
      pid_t behind[3] = {gettid(), gettid(), gettid()};
    } named;
    std::mutex mutex;
    named.lock.lock();
    mutex.lock();
    Taker taker(named.lock), ofMutex(mutex);
    QVERIFY(QTest::qWaitFor([&] { return stateOf(taker.tid()) == 'S' && stateOf(ofMutex.tid()) == 'S'; }));
    const bool seen = seenToWait(taker), mutexSeen = seenToWait(ofMutex);
    named.lock.unlock();
    mutex.unlock();
    taker.join();
    ofMutex.join();
    QVERIFY(!seen);
    QVERIFY(mutexSeen);
  }
};

QTEST_GUILESS_MAIN(LockTest)
#include "lock_test.moc"
