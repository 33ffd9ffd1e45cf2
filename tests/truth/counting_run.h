// A run of the program `counting`, under the product, and its page of counts.
#pragma once

#include <QProcess>
#include <array>
#include <cstdint>
#include <memory>

#include "tests/truth/code_listing.h"
#include "tests/truth/product_run.h"

namespace traceback::truth {

class CountingRun {
 public:
  static constexpr unsigned kAlarm = 256, kTimer = 257, kWrong = 258,
                            kCounts = 259;  // slots; those before are the threads
  using Counts = std::array<std::uint64_t, kCounts>;

  // `milliseconds`: after which it kills itself; 0: never. `clocks`: "alarm", "timer", both or none.
  static Attempt<std::unique_ptr<CountingRun>> start(const QString& build, unsigned threads,
                                                     unsigned milliseconds, const QStringList& clocks,
                                                     const QString& bufferSize);
  ~CountingRun();
  CountingRun(const CountingRun&) = delete;
  CountingRun& operator=(const CountingRun&) = delete;

  const ProductRun& product() const { return *m_product; }
  const CodeListing& listing() const { return m_listing; }
  Counts counts() const;
  // Of the thread of that slot.
  std::uint32_t tid(unsigned slot) const;
  bool waitUntilAllCount(unsigned threads, int timeoutMs);
  bool isRunning();
  // False if it ended in another way.
  bool waitForKill(int timeoutMs);
  qint64 pid() const { return m_process.processId(); }
  void kill() { m_process.kill(); }
  QByteArray complaints() { return m_process.readAllStandardError(); }

 private:
  CountingRun() = default;

  std::unique_ptr<ProductRun> m_product;
  CodeListing m_listing;
  QProcess m_process;
  const volatile std::uint64_t* m_counts = nullptr;
  std::unique_ptr<QFile> m_file;
};

}  // namespace traceback::truth
