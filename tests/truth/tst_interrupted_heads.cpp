// Signals that arrive at each instruction of head probes, and of the routines by which these are written and
// bits are set: the handler sees a state that the program has, and nothing is lost or written twice.
#include <sys/ptrace.h>

#include <QFile>
#include <QtTest>
#include <csignal>
#include <set>

#include "tests/truth/counting_run.h"
#include "tests/truth/instrumented_file.h"
#include "tests/truth/lockstep/stepped_process.h"
#include "tests/truth/spelled_numbers.h"
#include "tests/truth/verify_outcome.h"
#include "tests/truth/written_profile.h"

using namespace traceback;
using namespace traceback::truth;

class TestInterruptedHeads : public QObject {
  Q_OBJECT

 private slots:
  void handlersSeeTheProgram_data();
  void handlersSeeTheProgram();
  void handlersSeeTheProgramWhereNothingRanAsAProfileSays_data();
  void handlersSeeTheProgramWhereNothingRanAsAProfileSays();
  void handlersSeeTheProgramWhereAllRanAsAProfileSays_data();
  void handlersSeeTheProgramWhereAllRanAsAProfileSays();
  void withoutThemNoneIsShared();

 private:
  using Prepared = Attempt<std::unique_ptr<ProductRun>>;
  static void interrupt(const QString& original, const Prepared& run, const QSet<QString>& parts,
                        bool skipsFault = false);
};

namespace {

constexpr qint64 kPage = 4096;
// How often at each instruction, and then at every so many; up to which number.
struct Dose {
  int times;
  std::uint64_t every, numbers;
};
// Behind a fault that is skipped there is a gap, which the ring must not reach back to any more.
constexpr Dose kInRoutines{12, 61, 3000}, kBehindFault{12, 61, 15000}, kInMany{6, 61, 500},
    kInCopies{2, 997, 200};

// Not within the handler, for then it would come behind that.
bool wouldCome(pid_t pid, int signal) {
  std::uint64_t blocked = 0;
  return ::ptrace(PTRACE_GETSIGMASK, pid, sizeof blocked, &blocked) == 0 &&
         ((blocked >> (signal - 1)) & 1) == 0;
}

const QSet<QString> kOfHeads = {"before the record", "before the claim", "behind the claim",
                                "on the way to the runtime"};
const QSet<QString> kOfBits = {"before the registers are kept", "before they are given back",
                               "as they are given back"};
const QSet<QString> kOfLoads = {"before the cursor is loaded", "as it is loaded"};

// What the file says of its routines, by where they start.
class RoutineParts {
 public:
  explicit RoutineParts(const InstrumentedFile& file)
      : m_records(file.table<format::RecordRoutine>(file.module.routineOffset, file.module.routineCount)
                      .value_or(std::vector<format::RecordRoutine>())),
        m_bits(file.table<format::BitRoutine>(file.module.bitRoutineOffset, file.module.bitRoutineCount)
                   .value_or(std::vector<format::BitRoutine>())),
        m_loads(file.table<format::LoadRoutine>(file.module.loadRoutineOffset, file.module.loadRoutineCount)
                    .value_or(std::vector<format::LoadRoutine>())) {}

  bool empty() const { return m_records.empty() && m_bits.empty() && m_loads.empty(); }
  std::uint64_t start() const {
    return !m_records.empty() ? m_records.front().start
           : !m_bits.empty()  ? m_bits.front().start
                              : m_loads.front().start;
  }

  QString at(std::uint64_t pc) const {
    for (const auto& routine : m_bits) {
      constexpr unsigned kLoads = 11;  // with ret
      const std::uint64_t offset = pc - routine.start;
      if (offset >= routine.size) continue;
      return offset < format::kBitRoutineKeepsRcx ? "before the registers are kept"
             : offset < routine.size - kLoads     ? "before they are given back"
                                                  : "as they are given back";
    }
    for (const auto& routine : m_loads) {
      constexpr unsigned kSegment = 9;
      const std::uint64_t offset = pc - routine.start;
      if (offset < routine.size)
        return offset <= kSegment ? "before the cursor is loaded" : "as it is loaded";
    }
    for (auto routine = m_records.rbegin(); routine != m_records.rend(); ++routine) {
      if (pc < routine->start) continue;
      const std::uint64_t offset = pc - routine->start;
      return offset < routine->written   ? "before the record"
             : offset < routine->claimed ? "before the claim"
             : offset < routine->wrap    ? "behind the claim"
                                         : "on the way to the runtime";
    }
    return "in none";
  }

 private:
  std::vector<format::RecordRoutine> m_records;
  std::vector<format::BitRoutine> m_bits;
  std::vector<format::LoadRoutine> m_loads;
};

}  // namespace

void TestInterruptedHeads::handlersSeeTheProgram_data() {
  QTest::addColumn<QString>("build");
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<bool>("inRoutines");
  QTest::newRow("O2") << "O2" << QStringList() << false;
  QTest::newRow("O0") << "O0" << QStringList() << false;
  const QStringList inMemory{"--without", "kept-cursor"};
  const QStringList shared{"--without", "heads-in-place"};
  QTest::newRow("O2, shared") << "O2" << shared << true;
  QTest::newRow("O0, shared") << "O0" << shared << true;
  QTest::newRow("O2, shared, the cursor in memory") << "O2" << shared + inMemory << true;
  const QStringList none{"--without", "shared-heads"};
  QTest::newRow("O2, no routines") << "O2" << none << false;
  QTest::newRow("O0, no routines") << "O0" << none << false;
  QTest::newRow("O2, no routines, the cursor in memory") << "O2" << none + inMemory << false;
}

void TestInterruptedHeads::handlersSeeTheProgram() {
  QFETCH(QString, build);
  QFETCH(QStringList, options);
  QFETCH(bool, inRoutines);
  const QString original = QString(TRUTH_PROGRAM_DIR "/counting-") + build;
  interrupt(original, ProductRun::prepare(original, options), inRoutines ? kOfHeads : QSet<QString>());
}

void TestInterruptedHeads::handlersSeeTheProgramWhereNothingRanAsAProfileSays_data() {
  QTest::addColumn<QString>("build");
  QTest::addColumn<QStringList>("options");
  QTest::newRow("O2") << "O2" << QStringList();
  QTest::newRow("O0") << "O0" << QStringList();
  QTest::newRow("O2, the cursor in memory") << "O2" << QStringList{"--without", "kept-cursor"};
}

// Then nearly all heads are in routines, those of entries and loops, too, and bits are.
void TestInterruptedHeads::handlersSeeTheProgramWhereNothingRanAsAProfileSays() {
  QFETCH(QString, build);
  QFETCH(QStringList, options);
  const QString original = QString(TRUTH_PROGRAM_DIR "/counting-") + build;
  interrupt(original, prepareAsIfNothingRan(original, options), kOfHeads + kOfBits);
}

void TestInterruptedHeads::handlersSeeTheProgramWhereAllRanAsAProfileSays_data() {
  QTest::addColumn<QString>("build");
  QTest::addColumn<bool>("skipsFault");
  QTest::newRow("O2") << "O2" << false;
  QTest::newRow("O0") << "O0" << false;
  QTest::newRow("O2, where callees cannot be relied upon") << "O2" << true;
  QTest::newRow("O0, where callees cannot be relied upon") << "O0" << true;
}

// Then all are in place, and those behind calls are brought the cursor, or call routines to load it.
void TestInterruptedHeads::handlersSeeTheProgramWhereAllRanAsAProfileSays() {
  QFETCH(QString, build);
  QFETCH(bool, skipsFault);
  const QString original = QString(TRUTH_PROGRAM_DIR "/counting-") + build;
  const auto run = prepareAsIfAllRan(original);
  VERIFY_OUTCOME(run);
  const auto file = InstrumentedFile::open((*run)->program().toStdString());
  QVERIFY2(file, file ? "" : file.error().c_str());
  QVERIFY(file->module.broughtHeadCount > 0);
  interrupt(original, run, skipsFault ? kOfLoads : QSet<QString>(), skipsFault);
}

// With signals in each of those parts of routines, or, if there are none, in the copies.
void TestInterruptedHeads::interrupt(const QString& original, const Prepared& run, const QSet<QString>& parts,
                                     bool skipsFault) {
  const bool inRoutines = !parts.isEmpty();
  VERIFY_OUTCOME(run);
  const auto listing = CodeListing::of(original);
  QVERIFY2(listing, listing ? "" : qPrintable(listing.error()));
  const auto file = InstrumentedFile::open((*run)->program().toStdString());
  QVERIFY2(file, file ? "" : file.error().c_str());
  const RoutineParts routines(*file);
  QCOMPARE(!routines.empty(), inRoutines || file->module.broughtHeadCount > 0);
  const Dose dose = parts.contains(kOfBits) ? kInMany
                    : skipsFault            ? kBehindFault
                    : inRoutines            ? kInRoutines
                                            : kInCopies;
  const CodeRange stepped = inRoutines ? CodeRange{routines.start(), file->module.copyStart}
                                       : CodeRange{file->module.copyStart, file->module.copyEnd};

  QFile page((*run)->file("counts"));
  QVERIFY(page.open(QFile::ReadWrite) && page.resize(2 * kPage));
  const auto* const counts = reinterpret_cast<const volatile std::uint64_t*>(page.map(0, kPage));
  QVERIFY(counts);
  QProcessEnvironment variables = (*run)->environment();
  variables.insert("TRACEBACK_BUFFER_SIZE", "16384");
  std::vector<std::string> environment;
  for (const QString& each : variables.toStringList()) environment.push_back(each.toStdString());

  std::map<std::uint64_t, int> interrupted;
  std::uint64_t sent = 0, steps = 0;
  {
    SteppedProcess process;
    const auto started = process.start(
        (*run)->program().toStdString(),
        {"counting", page.fileName().toStdString(), "1", "0", "asked", skipsFault ? "skips" : ""},
        environment, file->elf.header().e_entry, {stepped});
    QVERIFY2(started, started ? "" : started.error().c_str());
    bool pending = false;
    while (counts[0] < dose.numbers) {
      const auto stop = process.advance();
      QVERIFY2(stop, stop ? "" : stop.error().c_str());
      QVERIFY2(*stop != SteppedProcess::Stop::End, "it ended");
      if (*stop == SteppedProcess::Stop::Signal && skipsFault && counts[0] == 0) {
        QCOMPARE(process.signal(), SIGSEGV);
      } else if (*stop == SteppedProcess::Stop::Signal) {
        QCOMPARE(process.signal(), SIGALRM);
        pending = false;
        ++sent;
        ++interrupted[process.linkPc()];
      } else if (counts[0] > 0 && !pending && process.inRanges() && wouldCome(process.pid(), SIGALRM) &&
                 (++steps % dose.every == 0 || interrupted[process.linkPc()] < dose.times)) {
        QCOMPARE(::kill(process.pid(), SIGALRM), 0);
        pending = true;
      }
    }
  }  // killed

  QMap<QString, int> met;
  for (const auto& [pc, times] : interrupted)
    if (inRoutines && pc >= stepped.start && pc < stepped.end) met[routines.at(pc)] += times;
  QCOMPARE(QSet<QString>(met.keyBegin(), met.keyEnd()), parts);
  if (!inRoutines) QVERIFY2(interrupted.size() > 200, qPrintable(QString::number(interrupted.size())));
  QVERIFY(counts[CountingRun::kAlarm] + 1 >= sent);
  QCOMPARE(std::uint64_t{counts[CountingRun::kWrong]}, std::uint64_t{0});

  const auto snap = (*run)->snap();
  QVERIFY2(snap, snap ? "" : qPrintable(snap.error()));
  const auto trace = readTrace(*snap);
  QVERIFY2(trace, trace ? "" : qPrintable(trace.error()));
  QVERIFY2(trace->damage.isEmpty(), qPrintable(trace->damage.join("; ")));
  QCOMPARE(trace->threads.size(), 1UL);
  for (const auto& [speller, slot] : {std::pair{"main", 0U}, {"alarm", CountingRun::kAlarm}}) {
    const auto spelled = SpelledNumbers::read(trace->threads[0], *listing, speller);
    QVERIFY2(spelled, spelled ? "" : qPrintable(spelled.error()));
    const auto wrong = contradiction(*spelled, counts[slot]);
    QVERIFY2(!wrong, wrong ? qPrintable(*wrong) : "");
  }
  qInfo() << sent << "signals at" << interrupted.size() << "places;" << met;
}

void TestInterruptedHeads::withoutThemNoneIsShared() {
  const QString original = QString(TRUTH_PROGRAM_DIR "/counting-O2");
  const auto shared = prepareAsIfNothingRan(original, {});
  const auto apart = prepareAsIfNothingRan(original, {"--without", "shared-heads"});
  QVERIFY(shared && apart);
  const auto few = InstrumentedFile::open((*shared)->program().toStdString());
  const auto none = InstrumentedFile::open((*apart)->program().toStdString());
  QVERIFY(few && none);
  QVERIFY(few->module.routineCount > 0 && few->module.bitRoutineCount > 0);
  QCOMPARE(none->module.routineCount, 0U);
  QCOMPARE(none->module.bitRoutineCount, 0U);
  QCOMPARE(few->map.dagCount, none->map.dagCount);
  QVERIFY(few->module.copyEnd - few->module.copyStart < none->module.copyEnd - none->module.copyStart);
}

QTEST_GUILESS_MAIN(TestInterruptedHeads)
#include "tst_interrupted_heads.moc"
