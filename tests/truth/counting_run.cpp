#include "tests/truth/counting_run.h"

#include <sys/prctl.h>

#include <QElapsedTimer>
#include <QFile>
#include <QThread>
#include <csignal>

namespace traceback::truth {

namespace {
constexpr qint64 kPage = 4096;  // of counts; of the threads' ids
}

Attempt<std::unique_ptr<CountingRun>> CountingRun::start(const QString& build, unsigned threads,
                                                         unsigned milliseconds, const QStringList& clocks,
                                                         const QString& bufferSize) {
  std::unique_ptr<CountingRun> run(new CountingRun);
  const QString program = QString(TRUTH_PROGRAM_DIR "/counting-") + build;
  auto product = ProductRun::prepare(program);
  if (!product) return std::unexpected(product.error());
  run->m_product = std::move(*product);
  auto listing = CodeListing::of(program);
  if (!listing) return std::unexpected(listing.error());
  run->m_listing = std::move(*listing);
  run->m_file = std::make_unique<QFile>(run->m_product->file("counts"));
  if (!run->m_file->open(QFile::ReadWrite) || !run->m_file->resize(2 * kPage))
    return std::unexpected(run->m_file->errorString());
  run->m_counts = reinterpret_cast<const volatile std::uint64_t*>(run->m_file->map(0, 2 * kPage));
  if (run->m_counts == nullptr) return std::unexpected(run->m_file->errorString());
  QProcessEnvironment environment = run->m_product->environment();
  environment.insert("TRACEBACK_BUFFER_SIZE", bufferSize);
  run->m_process.setProcessEnvironment(environment);
  run->m_process.setChildProcessModifier(
      [] { ::prctl(PR_SET_PDEATHSIG, SIGKILL); });  // it never ends by itself
  run->m_process.start(
      run->m_product->program(),
      QStringList{run->m_file->fileName(), QString::number(threads), QString::number(milliseconds)} + clocks);
  if (!run->m_process.waitForStarted()) return std::unexpected(run->m_process.errorString());
  return run;
}

CountingRun::~CountingRun() {
  if (m_process.state() != QProcess::NotRunning) {
    m_process.kill();
    m_process.waitForFinished();
  }
}

CountingRun::Counts CountingRun::counts() const {
  Counts counts;
  for (unsigned i = 0; i < kCounts; ++i) counts[i] = m_counts[i];
  return counts;
}

std::uint32_t CountingRun::tid(unsigned slot) const {
  return std::uint32_t(m_counts[kPage / sizeof *m_counts + slot]);
}

bool CountingRun::isRunning() {
  m_process.waitForFinished(0);
  return m_process.state() == QProcess::Running;
}

bool CountingRun::waitUntilAllCount(unsigned threads, int timeoutMs) {
  QElapsedTimer timer;
  timer.start();
  while (timer.elapsed() < timeoutMs && isRunning()) {
    unsigned counting = 0;
    for (unsigned i = 0; i < threads; ++i) counting += m_counts[i] > 0;
    if (counting == threads) return true;
    QThread::usleep(200);
  }
  return false;
}

bool CountingRun::waitForKill(int timeoutMs) {
  if (isRunning() && !m_process.waitForFinished(timeoutMs)) return false;
  return m_process.exitStatus() == QProcess::CrashExit && m_process.exitCode() == SIGKILL;
}

}  // namespace traceback::truth
