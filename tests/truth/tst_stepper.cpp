// The stepper against programs of which it is known beforehand what they execute.
#include <QProcess>
#include <QtTest>
#include <csignal>
#include <map>

#include "tests/truth/stepper/sequence.h"
#include "tests/truth/stepper/stepper.h"

using namespace traceback::truth;

class TestStepper : public QObject {
  Q_OBJECT

 private slots:
  void everyInstructionIsSeenOnce();
  void rangesLeaveTheRestOut();
  void tooManyStepsAreAnError();
  void aSequenceSurvivesItsFile();
  void aShortFileIsRefused();
  void aMissingProgramIsAnError();

 private:
  static std::map<std::string, std::uint32_t> symbols(const QString& file);
};

namespace {
const std::string kSteps = TRUTH_PROGRAM_DIR "/known/steps";
}

std::map<std::string, std::uint32_t> TestStepper::symbols(const QString& file) {
  QProcess nm;
  nm.start("nm", {file});
  std::map<std::string, std::uint32_t> result;
  if (!nm.waitForFinished()) return result;
  for (const QByteArray& line : nm.readAllStandardOutput().split('\n')) {
    const auto words = line.split(' ');
    if (words.size() == 3) result[words[2].toStdString()] = words[0].toUInt(nullptr, 16);
  }
  return result;
}

void TestStepper::everyInstructionIsSeenOnce() {
  const auto symbol = symbols(QString::fromStdString(kSteps));
  QVERIFY(symbol.contains("fault"));
  const std::uint32_t main = symbol.at("main");
  StepOptions options;
  options.ranges = {{main, symbol.at("compare_end") + 1}};
  const auto sequence = stepProgram({kSteps}, options);
  QVERIFY2(sequence, sequence ? "" : sequence.error().c_str());
  QCOMPARE(sequence->threads.size(), 1UL);

  // pushq %rbx is one byte, cpuid two, movl to ebx, ecx, edi, edx, esi five, leaq seven.
  const std::uint32_t round = symbol.at("round"), again = symbol.at("again"), store = symbol.at("store"),
                      handle = symbol.at("handle"), send = symbol.at("send"), sort = symbol.at("sort"),
                      handler = symbol.at("handler"), compare = symbol.at("compare");
  const std::vector<std::uint32_t> expected = {main,
                                               main + 1,
                                               main + 3,
                                               main + 5,
                                               round,
                                               again,
                                               round,
                                               again,
                                               round,
                                               again,
                                               again + 2,
                                               again + 9,
                                               store,
                                               store + 2,
                                               store + 9,
                                               handle,
                                               handle + 5,
                                               send,
                                               handler,
                                               handler + 1,
                                               send + 5,
                                               send + 12,
                                               send + 17,
                                               send + 22,
                                               sort,
                                               compare,
                                               compare + 2,
                                               compare + 4,
                                               symbol.at("fault")};
  QCOMPARE(sequence->threads[0].addresses, expected);
  QCOMPARE(sequence->threads[0].received.size(), 2UL);
  QCOMPARE(sequence->threads[0].received[0].signal, std::uint32_t(SIGUSR1));
  QCOMPARE(sequence->threads[0].received[0].position, 18UL);
  QCOMPARE(sequence->threads[0].received[1].signal, std::uint32_t(SIGILL));
  QCOMPARE(sequence->threads[0].received[1].synchronous, 1U);
  QVERIFY(WIFSIGNALED(sequence->waitStatus));
  QCOMPARE(WTERMSIG(sequence->waitStatus), SIGILL);
}

void TestStepper::rangesLeaveTheRestOut() {
  const auto symbol = symbols(QString::fromStdString(kSteps));
  QVERIFY(symbol.contains("compare"));
  StepOptions options;
  options.ranges = {{symbol.at("compare"), symbol.at("compare_end") + 1}};
  const auto sequence = stepProgram({kSteps}, options);
  QVERIFY(sequence);
  const std::uint32_t compare = symbol.at("compare");
  QCOMPARE(sequence->threads.at(0).addresses,
           (std::vector<std::uint32_t>{compare, compare + 2, compare + 4}));
}

void TestStepper::tooManyStepsAreAnError() {
  StepOptions options;
  options.ranges = sectionRange(kSteps, ".text").value();
  options.limit = 10;
  QVERIFY(!stepProgram({kSteps}, options));
}

void TestStepper::aSequenceSurvivesItsFile() {
  QTemporaryDir folder;
  const std::string path = folder.filePath("sequence").toStdString();
  const Sequence written{0x8B, {{7, kThreadCutShort, {1, 2, 3}, {{2, 3, 11, 1}}}, {8, 0, {}, {}}}};
  QVERIFY(writeSequence(written, path));
  const auto read = readSequence(path);
  QVERIFY(read);
  QCOMPARE(read->waitStatus, written.waitStatus);
  QCOMPARE(read->threads.size(), 2UL);
  QCOMPARE(read->threads[0].addresses, written.threads[0].addresses);
  QCOMPARE(read->threads[0].marks, written.threads[0].marks);
  QCOMPARE(read->threads[0].received[0].address, 3UL);
  QCOMPARE(read->threads[1].tid, 8U);
}

void TestStepper::aShortFileIsRefused() {
  QTemporaryDir folder;
  const QString path = folder.filePath("sequence");
  QVERIFY(writeSequence({0, {{7, 0, {1, 2, 3}, {}}}}, path.toStdString()));
  QFile file(path);
  for (qint64 size = file.size() - 1; size >= 0; --size) {
    QVERIFY(file.resize(size));
    QVERIFY(!readSequence(path.toStdString()));
  }
}

void TestStepper::aMissingProgramIsAnError() { QVERIFY(!stepProgram({"/nonexistent/program"}, {})); }

QTEST_GUILESS_MAIN(TestStepper)
#include "tst_stepper.moc"
