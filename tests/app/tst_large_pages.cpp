// Commands that instrument ask glibc's allocator for large pages, by executing themselves once more.
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTest>
#include <string>
#include <vector>

#include "tests/app/command_line.h"

using namespace traceback::test;

namespace {

// What GLIBC_TUNABLES was at each execution of the process; "-" where it was not set.
QByteArrayList tunablesOf(const QByteArrayList& words, const QByteArrayList& environment) {
  std::vector<std::string> texts{CommandLine::program().toStdString()};
  for (const QByteArray& word : words) texts.push_back(word.toStdString());
  const std::size_t count = texts.size();
  for (const QByteArray& variable : environment) texts.push_back(variable.toStdString());
  std::vector<char*> arguments, variables;
  for (std::size_t i = 0; i < texts.size(); ++i)
    (i < count ? arguments : variables).push_back(texts[i].data());
  arguments.push_back(nullptr);
  variables.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execve(arguments[0], arguments.data(), variables.data());
    _exit(127);
  }
  QByteArrayList values;
  int status = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    const bool executed = WSTOPSIG(status) == SIGTRAP;
    if (executed) {
      QByteArray value = "-";
      for (const QByteArray& variable : readFile(QStringLiteral("/proc/%1/environ").arg(child)).split('\0'))
        if (variable.startsWith("GLIBC_TUNABLES=")) value = variable.mid(variable.indexOf('=') + 1);
      values << value;
    }
    ptrace(PTRACE_CONT, child, nullptr, executed ? 0 : WSTOPSIG(status));
  }
  return values;
}

class LargePagesTest : public QObject {
  Q_OBJECT

 private slots:
  void commandsThatInstrumentStartAgainOnceToHaveThem_data() {
    QTest::addColumn<QByteArrayList>("words");
    QTest::addColumn<QByteArrayList>("environment");
    QTest::addColumn<QByteArrayList>("tunables");
    using List = QByteArrayList;
    const QByteArray none = "/nowhere/none", large = "glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864";
    QTest::newRow("instrument") << List{"instrument", none} << List{} << List{"-", large};
    QTest::newRow("prepare") << List{"prepare", "--cache", none, none} << List{} << List{"-", large};
    QTest::newRow("empty before") << List{"instrument", none} << List{"GLIBC_TUNABLES="} << List{"", large};
    QTest::newRow("the user's are kept")
        << List{"instrument", none} << List{"GLIBC_TUNABLES=glibc.malloc.arena_max=1"}
        << List{"glibc.malloc.arena_max=1", "glibc.malloc.arena_max=1:" + large};
    QTest::newRow("the user says so")
        << List{"instrument", none} << List{"GLIBC_TUNABLES=glibc.malloc.hugetlb=0"}
        << List{"glibc.malloc.hugetlb=0"};
    QTest::newRow("what becomes a program does not") << List{"run", "--", none} << List{} << List{"-"};
    QTest::newRow("what needs little does not") << List{"info", none} << List{} << List{"-"};
    QTest::newRow("no command") << List{} << List{} << List{"-"};
  }
  void commandsThatInstrumentStartAgainOnceToHaveThem() {
    QFETCH(QByteArrayList, words);
    QFETCH(QByteArrayList, environment);
    QFETCH(QByteArrayList, tunables);
    QCOMPARE(tunablesOf(words, environment), tunables);
  }

  // The file that is executed then is the dynamic linker, which would take the command for a program.
  void byWayOfTheDynamicLinkerTheyGoOnAsTheyAre() {
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
