// What the service tidies, and what its manual says.
#include <sys/stat.h>

#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include "running_service.h"
#include "runtime/collect/keeping/housekeeping.h"

using namespace traceback;
using namespace traceback::testing;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

}  // namespace

class ServiceTidyingTest : public QObject {
  Q_OBJECT
 private slots:
  void ringsOfKilledProcessesAreKeptForTheirTime() {
    TracedRun traced;
    traced.run({"threads", "2"});  // kills itself
    QCOMPARE(traced.processFolders().size(), 1u);
    auto living = traced.start({"pause"});
    QVERIFY(living->waitForReadyRead(30'000));
    QCOMPARE(traced.processFolders().size(), 2u);
    collect::tidyRings(traced.ringFolder(), 1h);
    QCOMPARE(traced.processFolders().size(), 2u);
    unsigned marks = 0;
    for (const fs::path& folder : traced.processFolders()) {
      const fs::path mark = folder / "ended";
      if (!fs::exists(mark)) continue;
      ++marks;
      fs::last_write_time(mark, fs::file_time_type::clock::now() - 2h);
    }
    QCOMPARE(marks, 1u);
    collect::tidyRings(traced.ringFolder(), 0s);
    QCOMPARE(traced.processFolders().size(), 2u);
    collect::tidyRings(traced.ringFolder(), 1h);
    QCOMPARE(traced.processFolders().size(), 1u);
    living->write("\n");
    QCOMPARE(TracedRun::finish(*living).status, 4);
  }

  void theServiceTidiesByThePolicy() {
    TracedRun traced;
    const fs::path home = traced.ringFolder().parent_path();
    fs::create_directories(home / "traceback");
    ::chmod((home / "traceback").c_str(), 0700);
    // XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_RUNTIME_DIR are one here.
    QFile policy(QString::fromStdString((home / "traceback/policy").string()));
    QVERIFY(policy.open(QIODevice::WriteOnly) && policy.write("keep 1h\n") > 0);
    policy.close();
    QFile snap(QString::fromStdString((home / "traceback/old.tbsnap").string()));
    QVERIFY(snap.open(QIODevice::WriteOnly));
    snap.close();
    fs::last_write_time(home / "traceback/old.tbsnap", fs::file_time_type::clock::now() - 2h);
    RunningService service(traced);
    QVERIFY(service.answers());
    QVERIFY(!fs::exists(home / "traceback/old.tbsnap"));
  }

  void itsOptionsAreInItsManual() {
    QProcess help;
    help.start(TRACEBACKD, {"--help"});
    QVERIFY(help.waitForFinished(30'000));
    QCOMPARE(help.exitCode(), 0);
    const QByteArray text = help.readAllStandardOutput();
    QFile manual(RESOURCES "/man/tracebackd.8");
    QVERIFY(manual.open(QIODevice::ReadOnly));
    const QByteArray pages = manual.readAll().replace("\\-", "-");
    QVERIFY(text.contains("--tidy") && text.contains("--quiet"));
    const QRegularExpression option("--[a-z]+");
    for (auto found = option.globalMatch(QString::fromUtf8(text)); found.hasNext();)
      QVERIFY(pages.contains(found.next().captured().toUtf8()));
    QProcess wrong;
    wrong.start(TRACEBACKD, {"--frobnicate"});
    QVERIFY(wrong.waitForFinished(30'000));
    QCOMPARE(wrong.exitCode(), 2);
  }
};

QTEST_GUILESS_MAIN(ServiceTidyingTest)
#include "service_tidying_test.moc"
