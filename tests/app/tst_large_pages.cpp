// What instruments files asks glibc's allocator for large pages, and what it starts does not.
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTest>
#include <string>
#include <vector>

#include "tests/app/command_line.h"

using namespace traceback::test;

namespace {

const QByteArray kLarge = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864";

struct Execution {
  QByteArrayList words;
  QByteArray tunables = "-";  // GLIBC_TUNABLES; "-" where it is not set
};

Execution executionOf(pid_t pid) {
  Execution execution{.words = readFile(QStringLiteral("/proc/%1/cmdline").arg(pid)).split('\0')};
  for (const QByteArray& variable : readFile(QStringLiteral("/proc/%1/environ").arg(pid)).split('\0'))
    if (variable.startsWith("GLIBC_TUNABLES=")) execution.tunables = variable.mid(variable.indexOf('=') + 1);
  return execution;
}

[[noreturn]] void startTraced(const std::vector<char*>& arguments, const std::vector<char*>& variables) {
  close(STDOUT_FILENO);
  close(STDERR_FILENO);
  ptrace(PTRACE_TRACEME, 0, 0, 0);
  raise(SIGSTOP);
  execve(arguments[0], arguments.data(), variables.data());
  _exit(127);
}

// Of `traceback` with these words, and of the processes that it starts, as far as they do so by fork.
QList<Execution> executionsOf(const QStringList& words, const QStringList& environment) {
  std::vector<std::string> texts{CommandLine::program().toStdString()};
  for (const QString& word : words) texts.push_back(word.toStdString());
  const std::size_t count = texts.size();
  for (const QString& variable : environment) texts.push_back(variable.toStdString());
  std::vector<char*> arguments, variables;
  for (std::size_t i = 0; i < texts.size(); ++i)
    (i < count ? arguments : variables).push_back(texts[i].data());
  arguments.push_back(nullptr);
  variables.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) startTraced(arguments, variables);
  QList<Execution> executions;
  int status = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL);
  ptrace(PTRACE_CONT, child, nullptr, 0);
  for (pid_t pid = 0; (pid = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) continue;
    const int event = status >> 16, signal = WSTOPSIG(status);
    if (event == PTRACE_EVENT_EXEC) executions << executionOf(pid);
    // A new process stops by itself, first of all.
    ptrace(PTRACE_CONT, pid, nullptr, event != 0 || signal == SIGSTOP ? 0 : signal);
  }
  return executions;
}

class LargePagesTest : public QObject {
  Q_OBJECT

 private slots:
  void instrumentStartsAgainOnceToHaveThem_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QStringList>("environment");
    QTest::addColumn<QByteArrayList>("tunables");
    QTest::newRow("instrument") << "instrument" << QStringList{} << QByteArrayList{"-", kLarge};
    QTest::newRow("empty before") << "instrument" << QStringList{"GLIBC_TUNABLES="}
                                  << QByteArrayList{"", kLarge};
    QTest::newRow("the user's are kept")
        << "instrument" << QStringList{"GLIBC_TUNABLES=glibc.malloc.arena_max=1"}
        << QByteArrayList{"glibc.malloc.arena_max=1", kLarge + ":glibc.malloc.arena_max=1"};
    QTest::newRow("the user says so") << "instrument" << QStringList{"GLIBC_TUNABLES=glibc.malloc.hugetlb=0"}
                                      << QByteArrayList{"glibc.malloc.hugetlb=0"};
    QTest::newRow("what needs little does not") << "info" << QStringList{} << QByteArrayList{"-"};
  }
  void instrumentStartsAgainOnceToHaveThem() {
    QFETCH(QString, command);
    QFETCH(QStringList, environment);
    QFETCH(QByteArrayList, tunables);
    QByteArrayList seen;
    for (const Execution& execution : executionsOf({command, "/nowhere/none"}, environment))
      seen << execution.tunables;
    QCOMPARE(seen, tunables);
  }

  void whatRunInstrumentsHasThemAndTheProgramDoesNot() {
    const CommandLine command;
    QByteArrayList copies, others;
    for (const Execution& execution :
         executionsOf({"run", "--", REPORT_PROGRAM}, command.environment().toStringList()))
      (execution.words.value(1) == "copy" ? copies : others) << execution.tunables;
    QVERIFY(!copies.isEmpty());
    for (const QByteArray& tunables : copies) QCOMPARE(tunables, kLarge);
    QVERIFY(others.size() > 1);
    for (const QByteArray& tunables : others) QVERIFY2(!tunables.contains("malloc"), tunables.constData());
  }

  // The file that is executed then is the dynamic linker, which would take the command for a program.
  void byWayOfTheDynamicLinkerItGoesOnAsItIs() {
    const CommandLine command;
    const Ran ran = run("/lib64/ld-linux-x86-64.so.2",
                        {CommandLine::program(), "instrument", "/nowhere/none", "-o", "/nowhere/out"},
                        command.environment());
    QCOMPARE(ran.status, 1);
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("/nowhere/none"), ran.err.constData());
  }
};

}  // namespace

QTEST_GUILESS_MAIN(LargePagesTest)
#include "tst_large_pages.moc"
