// What the product says was executed, against what the single-stepper saw of the uninstrumented program: the
// same instructions, in every thread, from the first instrumented one up to and including the one that
// faulted.
//
// TRUTH_BUILD chooses the builds of the programs: O0, O2, O3, package, nopie or clang; or "system", for some
// of the distribution's own. First, for Qt has a macro of the name of one of its fields.
#include "tests/truth/instrumented_file.h"

#include <sys/wait.h>

#include <QDir>
#include <QtTest>
#include <algorithm>
#include <set>

#include "tests/truth/code_listing.h"
#include "tests/truth/product_run.h"
#include "tests/truth/stepper/sequence.h"
#include "tests/truth/traced_path.h"
#include "tests/truth/verify_outcome.h"
#include "tests/truth/written_profile.h"

using namespace traceback::truth;
namespace format = traceback::format;

class TestTruth : public QObject {
  Q_OBJECT

 private slots:
  void theSameOutputAndEnd_data() { addPrograms(); }
  void theSameOutputAndEnd();
  void theSamePath_data() { addPrograms(); }
  void theSamePath();
  void theSamePathWhateverAProfileSays_data();
  void theSamePathWhateverAProfileSays();
  void theCopiesAreTheOriginals_data() { addPrograms(); }
  void theCopiesAreTheOriginals();
  void anyDifferenceIsNoticed();

 private:
  static void addPrograms();
  static void addSystemPrograms();
  static void comparePaths(const QString& program, const QStringList& arguments, const QStringList& options);
};

namespace {

QString programPath(const QString& name) { return QString(TRUTH_PROGRAM_DIR "/") + name; }

// Writes the ranges of the functions that have copies, and says how many there are.
int writeRanges(const InstrumentedFile& file, const QString& path) {
  QFile out(path);
  int count = 0;
  if (!out.open(QFile::WriteOnly)) return 0;
  for (const InstrumentedFunction& function : file.functions) {
    if (function.entry.copy == 0) continue;
    out.write(QString("%1 %2\n")
                  .arg(function.entry.original, 0, 16)
                  .arg(function.entry.original + function.entry.originalSize, 0, 16)
                  .toUtf8());
    ++count;
  }
  return count;
}

Attempt<Sequence> step(const ProductRun& run, const QString& program, const QStringList& arguments,
                       int& functions) {
  const auto file = InstrumentedFile::open(run.program().toStdString());
  if (!file) return std::unexpected(QString::fromStdString(file.error()));
  functions = writeRanges(*file, run.file("ranges"));
  if (functions == 0) return std::unexpected("no function of " + program + " is instrumented");
  const auto stepped = runToEnd(TRUTH_STEPPER,
                                QStringList{"--ranges", run.file("ranges"), "--output", run.file("sequence"),
                                            "--name", run.program(), "--", program} +
                                    arguments,
                                run.plainEnvironment(), 240000);
  if (!stepped) return std::unexpected(stepped.error());
  if (stepped->exitCode != 0) return std::unexpected(QString::fromUtf8(stepped->complaints));
  const auto sequence = readSequence(run.file("sequence").toStdString());
  if (!sequence) return std::unexpected(QString::fromStdString(sequence.error()));
  return *sequence;
}

QByteArray readBytes(const QString& path) {
  QFile file(path);
  return file.open(QFile::ReadOnly) ? file.readAll() : QByteArray();
}

// What says that the program came somewhere: a record, at the start of a DAG's head, unless the way there
// passes its probe; a bit of one, behind a branch.
struct Observed {
  std::set<std::uint32_t> heads;
  std::set<std::pair<std::uint32_t, std::uint32_t>> passing;  // start of the block in front, of the head
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;  // start of the branch's block, of where it led

  static Observed of(const QString& program) {
    Observed out;
    const auto file = InstrumentedFile::open(program.toStdString());
    if (!file) return out;
    for (const InstrumentedFunction& function : file->functions) {
      const auto& blocks = function.blocks;
      for (const format::DagEntry& dag : function.dags) out.heads.insert(blocks[dag.firstBlock].start);
      for (const format::BlockEntry& block : blocks) {
        for (unsigned edge = 0; edge < 2; ++edge)
          if (format::passesHead(block, edge) && block.successor[edge] < blocks.size())
            out.passing.emplace(block.start, blocks[block.successor[edge]].start);
        if (format::passesEntry(block)) out.passing.emplace(block.start, format::passedFunction(block));
        if (block.bit == format::kNoBit || format::passesBySlot(block)) continue;
        const std::uint32_t to = block.successor[(block.flags & format::kBlockBitTaken) != 0 ? 0 : 1];
        if (to < blocks.size()) out.edges.emplace(block.start, blocks[to].start);
      }
      for (const format::BlockEntry& block : blocks) out.blocks.insert(block.start);
    }
    return out;
  }

  // Whether anything says that these were executed, from the one with that index on.
  bool tells(const std::vector<std::uint32_t>& executed, std::size_t from) const {
    std::uint32_t block = 0;
    for (std::size_t i = 0; i < executed.size(); ++i) {
      if (!blocks.contains(executed[i])) continue;
      const std::pair step{block, executed[i]};
      const bool record = heads.contains(executed[i]) && !passing.contains(step);
      if (i >= from && (record || edges.contains(step))) return true;
      block = executed[i];
    }
    return false;
  }

 private:
  std::set<std::uint32_t> blocks;
};

// Instructions that a thread executed according to the product.
Attempt<std::vector<std::uint32_t>> expand(const TracedThread& thread, const CodeListing& listing) {
  std::vector<std::uint32_t> out;
  for (const TracedPiece& piece : thread.pieces)
    if (auto expanded = listing.expand(piece, out); !expanded) return std::unexpected(expanded.error());
  return out;
}

}  // namespace

void TestTruth::addPrograms() {
  QTest::addColumn<QString>("program");
  QTest::addColumn<QStringList>("arguments");
  const QString build = qEnvironmentVariable("TRUTH_BUILD", "O2");
  if (build == "system") return addSystemPrograms();
  QStringList patterns = {"*-" + build};
  if (build == "clang" && qEnvironmentVariableIsSet("TRACEBACK_SOAK"))
    patterns += {"*-clangO0", "*-clangnopie"};
  QStringList programs = QDir(TRUTH_PROGRAM_DIR).entryList(patterns, QDir::Files);
  programs.removeAll("counting-" + build);  // never ends
  programs.removeAll("forking-" + build);   // steps itself
  for (const QString& program : programs)
    QTest::newRow(qPrintable(program)) << programPath(program) << QStringList{};
}

// Optimised, hardened and stripped by the distribution; of them such whose path depends neither on the time
// nor on the process's number, as the seeds of hash tables do. Their input is these tests' own list of
// programs.
void TestTruth::addSystemPrograms() {
  const QString file = TRUTH_SOURCE_DIR "/programs/CMakeLists.txt";
  const auto add = [](const QString& name, const QStringList& arguments) {
    const QString program = QFileInfo("/usr/bin/" + name).canonicalFilePath();
    if (!program.isEmpty())
      QTest::addRow("%s %s", qPrintable(name), qPrintable(arguments.first())) << program << arguments;
  };
  add("gzip", {"-c", file});
  add("bzip2", {"-c", file});
  add("xz", {"-T1", "-c", file});
  add("jq", {"-n", "[range(20) | select(. % 3 == 0) | {a: ., b: (. * 2 | tostring)}]"});
  add("sqlite3",
      {":memory:",
       "create table t(a, b); insert into t values (1, 'x'), (2, 'y'); select sum(a), max(b) from t;"});
  add("sed", {"-n", "s/crash_[a-z]*/<&>/gp; /O2/,/O3/{=;p}", file});
  add("sort", {"-S1M", "-k2", "-u", file});  // else it goes by the memory that is free
  add("factor", {"1234567890", "999999000001", "18446744073709551615"});
  add("od", {"-A", "x", "-t", "x1z", "-N", "200", file});
}

void TestTruth::theSameOutputAndEnd() {
  QFETCH(QString, program);
  QFETCH(QStringList, arguments);
  for (const QStringList& options : {QStringList{"--null"}, QStringList{}}) {
    const auto run = ProductRun::prepare(program, options);
    VERIFY_OUTCOME(run);
    const auto plain = runInPlace(program, arguments, (*run)->plainEnvironment());
    VERIFY_OUTCOME(plain);
    const auto traced = (*run)->run(arguments, false);
    VERIFY_OUTCOME(traced);
    QCOMPARE(traced->output, plain->output);
    QCOMPARE(traced->exitCode, plain->exitCode);
    QCOMPARE(traced->signal, plain->signal);
  }
}

void TestTruth::theSamePath() {
  QFETCH(QString, program);
  QFETCH(QStringList, arguments);
  comparePaths(program, arguments, {});
}

void TestTruth::theSamePathWhateverAProfileSays_data() {
  QTest::addColumn<QString>("program");
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<unsigned>("seed");  // 0: it says that nothing ran
  const QString build = qEnvironmentVariable("TRUTH_BUILD", "O2");
  const unsigned last = build == "O2" ? 2 : 1;
  const auto add = [last](const QString& program, const QStringList& arguments) {
    if (!QFile::exists(program)) return;
    for (unsigned seed = 0; seed <= last; ++seed)
      QTest::addRow("%s %u", qPrintable(QFileInfo(program).fileName()), seed) << program << arguments << seed;
  };
  if (build == "system")
    return add("/usr/bin/od",
               {"-A", "x", "-t", "x1z", "-N", "200", QString(TRUTH_SOURCE_DIR) + "/programs/CMakeLists.txt"});
  for (const char* const name : {"crash_overflow", "crash_wild_deep", "exceptions", "many_paths",
                                 "own_slots_now", "passed_entries", "switches", "virtual_calls"})
    add(programPath(QString(name) + "-" + build), {});
}

// Of one that says of each block anything; and the copies are the originals still.
void TestTruth::theSamePathWhateverAProfileSays() {
  QFETCH(QString, program);
  QFETCH(QStringList, arguments);
  QFETCH(unsigned, seed);
  const auto plain = ProductRun::prepare(program);
  VERIFY_OUTCOME(plain);
  const QString profile = (*plain)->file("any.tbprofile");
  QVERIFY(seed == 0 ? writeProfileOfNothing(program, profile)
                    : writeRandomProfile(program, (*plain)->program(), seed, profile) > 4);
  const QStringList options{"--profile", profile};
  const auto run = ProductRun::prepare(program, options);
  VERIFY_OUTCOME(run);
  QVERIFY(readBytes((*run)->program()) != readBytes((*plain)->program()));
  const auto checked =
      runToEnd(TRUTH_SECOND_DECODER, {program, (*run)->program()}, QProcessEnvironment::systemEnvironment());
  VERIFY_OUTCOME(checked);
  QVERIFY2(checked->exitCode == 0, checked->output + checked->complaints);
  comparePaths(program, arguments, options);
}

void TestTruth::comparePaths(const QString& program, const QStringList& arguments,
                             const QStringList& options) {
  const auto run = ProductRun::prepare(program, options);
  VERIFY_OUTCOME(run);
  const auto plain = runInPlace(program, arguments, (*run)->plainEnvironment());
  VERIFY_OUTCOME(plain);
  int functions = 0;
  const auto truth = step(**run, program, arguments, functions);
  VERIFY_OUTCOME(truth);
  const bool crashes = plain->signal != 0;
  QCOMPARE(WIFSIGNALED(truth->waitStatus) ? WTERMSIG(truth->waitStatus) : 0, plain->signal);

  const auto traced = (*run)->run(arguments, !crashes);
  VERIFY_OUTCOME(traced);
  QCOMPARE(traced->output, plain->output);
  QCOMPARE(traced->signal, crashes ? plain->signal : SIGKILL);
  const auto snap = (*run)->snap();
  VERIFY_OUTCOME(snap);
  const auto trace = readTrace(*snap);
  VERIFY_OUTCOME(trace);
  QVERIFY2(trace->damage.isEmpty(), qPrintable(trace->damage.join("; ")));
  const auto listing = CodeListing::of(program);
  VERIFY_OUTCOME(listing);

  // Threads that never came into instrumented code have no ring.
  std::vector<const ThreadSequence*> expected;
  for (const ThreadSequence& thread : truth->threads)
    if (!thread.addresses.empty()) expected.push_back(&thread);
  std::vector<const TracedThread*> found;
  for (const TracedThread& thread : trace->threads)
    if (!thread.pieces.empty()) found.push_back(&thread);
  QCOMPARE(found.size(), expected.size());
  const auto lines = readLines(*snap);
  VERIFY_OUTCOME(lines);
  std::vector<const TracedThread*> shown;
  for (const TracedThread& thread : lines->threads)
    if (!thread.pieces.empty()) shown.push_back(&thread);
  QCOMPARE(shown.size(), found.size());
  const Observed observed = Observed::of((*run)->program());
  std::size_t compared = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    QVERIFY(!found[i]->startsOverwritten);
    auto path = expand(*found[i], *listing);
    VERIFY_OUTCOME(path);
    const auto ofLines = expand(*shown[i], *listing);
    VERIFY_OUTCOME(ofLines);
    auto known = *path;
    // Of the block that a killed thread had begun last, no line but the first is certain.
    std::vector<std::uint32_t> lastBlock;
    QVERIFY(listing->expand(found[i]->pieces.back(), lastBlock));
    if (ofLines->size() < known.size() && known.size() - ofLines->size() < lastBlock.size() && !crashes)
      known.resize(ofLines->size());
    const auto otherInLines = firstDifference(known, *ofLines, *listing);
    QVERIFY2(!otherInLines,
             otherInLines ? qPrintable(QString("lines of thread %1: %2").arg(i).arg(*otherInLines)) : "");
    std::vector<std::uint32_t> executed = expected[i]->addresses;
    if ((expected[i]->marks & kThreadCutShort) != 0) {
      // Killed by another thread's fault, at a moment that may differ: what both have must be the same.
      executed.resize(std::min(executed.size(), path->size()));
      path->resize(executed.size());
    }
    // What a killed thread did behind its last record and bit is not certain, so it is not shown.
    if (path->size() < executed.size() && !crashes && !observed.tells(executed, path->size()))
      executed.resize(path->size());
    const auto difference = firstDifference(executed, *path, *listing);
    QVERIFY2(!difference, difference ? qPrintable(QString("thread %1: %2").arg(i).arg(*difference)) : "");
    compared += executed.size();
  }
  QVERIFY(compared > 0);
  qInfo("%zu instructions of %zu threads, %d functions", compared, expected.size(), functions);
}

void TestTruth::theCopiesAreTheOriginals() {
  QFETCH(QString, program);
  for (const QStringList& options : {QStringList{"--null"}, QStringList{}}) {
    const auto run = ProductRun::prepare(program, options);
    VERIFY_OUTCOME(run);
    const auto checked = runToEnd(TRUTH_SECOND_DECODER, {program, (*run)->program()},
                                  QProcessEnvironment::systemEnvironment());
    VERIFY_OUTCOME(checked);
    QVERIFY2(checked->exitCode == 0, checked->output + checked->complaints);
  }
}

// That the comparison itself can fail.
void TestTruth::anyDifferenceIsNoticed() {
  const auto listing = CodeListing::of(programPath("loops-O2"));
  VERIFY_OUTCOME(listing);
  const auto main = listing->symbol("main");
  QVERIFY(main);
  std::vector<std::uint32_t> path;
  const auto expanded = listing->expand({*main, *main + 40, false}, path);
  VERIFY_OUTCOME(expanded);
  QVERIFY(path.size() > 5);
  QVERIFY(!firstDifference(path, path, *listing));
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::vector<std::uint32_t> shorter = path, twice = path,
                               cut(path.begin(), path.begin() + std::ptrdiff_t(i));
    shorter.erase(shorter.begin() + std::ptrdiff_t(i));
    twice.insert(twice.begin() + std::ptrdiff_t(i), path[i]);
    for (const auto& other : {shorter, twice, cut}) {
      QVERIFY(firstDifference(path, other, *listing));
      QVERIFY(firstDifference(other, path, *listing));
    }
  }
  // A piece whose ends lie within instructions is none of this program.
  QVERIFY(!listing->expand({*main + 1000001, *main + 1000002, false}, path));
}

QTEST_GUILESS_MAIN(TestTruth)
#include "tst_truth.moc"
