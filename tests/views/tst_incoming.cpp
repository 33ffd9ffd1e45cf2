// The list of incoming snaps: snaps that real programs leave appear by themselves, and a click opens them.

#include <QAbstractItemModelTester>
#include <QAction>
#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QFileInfo>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QTreeView>

#include "app/viewer/incoming/incoming_panel.h"
#include "app/viewer/incoming/incoming_snaps.h"
#include "app/viewer/loader_services.h"
#include "app/viewer/main_window.h"
#include "app/viewer/panels.h"
#include "tests/app/command_line.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;

namespace {

QString cell(const app::IncomingSnaps& snaps, int row, int column) {
  return snaps.index(row, column).data().toString();
}

}  // namespace

class Incoming : public QObject {
  Q_OBJECT

  test::CommandLine m_line;
  QString m_crash, m_abort;  // snaps of two runs, the second the newer

  // The snap that a program leaves.
  QString record(const QStringList& command) {
    const QStringList before = m_line.snaps();
    m_line.traceback(QStringList{"run", "--quiet", "--"} + command);
    for (const QString& snap : m_line.snaps())
      if (!before.contains(snap)) return snap;
    return {};
  }

  struct Watched {
    explicit Watched(const QString& folder) : window(app::loaderServices(), {}, false) {
      window.show();
      window.incoming().setFolder(folder);
    }
    app::MainWindow window;
    app::IncomingSnaps& snaps() { return window.incoming(); }
    // On the welcome page.
    app::IncomingPanel* panel() {
      for (auto* each : window.findChildren<app::IncomingPanel*>())
        if (each->isVisible()) return each;
      return nullptr;
    }
  };

 private slots:
  void initTestCase() {
    QVERIFY(m_line.isReady());
    // The trash is one of them.
    for (const char* name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"}) {
      const QString folder = m_line.path(QString::fromLatin1(name));
      QVERIFY(QDir().mkpath(folder));
      qputenv(name, folder.toUtf8());
    }
    m_crash = record({CRASH_PROGRAM});
    m_abort = record({"/bin/sh", "-c", "kill -ABRT $$"});
    QVERIFY(!m_crash.isEmpty());
    QVERIFY(!m_abort.isEmpty());
  }

  void newestIsFirstWithWhatItIsOf() {
    app::IncomingSnaps snaps(app::loaderServices().summary);
    const QAbstractItemModelTester tester(&snaps);
    snaps.setFolder(m_line.snapFolder());
    QTRY_COMPARE(snaps.rowCount(), 2);
    QCOMPARE(snaps.newest(), m_abort);
    QCOMPARE(snaps.fileAt(snaps.index(1, 0)), m_crash);
    QCOMPARE(cell(snaps, 1, app::IncomingSnaps::kProgram), QFileInfo(CRASH_PROGRAM).fileName());
    QVERIFY(cell(snaps, 1, app::IncomingSnaps::kReason).contains("SIGSEGV"));
    QVERIFY(cell(snaps, 0, app::IncomingSnaps::kReason).contains("SIGABRT"));
    QVERIFY(!cell(snaps, 0, app::IncomingSnaps::kWhen).isEmpty());
    QVERIFY(!cell(snaps, 0, app::IncomingSnaps::kSize).isEmpty());
    QCOMPARE(QString::fromStdString(snaps.snaps().last().summary.commandLine), QStringLiteral(CRASH_PROGRAM));
  }

  void aSnapAppearsByItselfEvenInAFolderThatWasNotThere() {
    const QString folder = m_line.path("later/deep/snaps");
    app::IncomingSnaps snaps(app::loaderServices().summary);
    const QAbstractItemModelTester tester(&snaps);
    QSignalSpy listed(&snaps, &app::IncomingSnaps::listed);
    QSignalSpy arrived(&snaps, &app::IncomingSnaps::arrived);
    snaps.setFolder(folder);
    QTRY_VERIFY(!listed.isEmpty());
    QCOMPARE(snaps.rowCount(), 0);
    QCOMPARE(m_line.traceback({"run", "--quiet", "--snap-dir", folder, "--", CRASH_PROGRAM}).status, 139);
    QTRY_COMPARE(snaps.rowCount(), 1);
    QCOMPARE(arrived.size(), 1);
    QCOMPARE(arrived[0][0].toString(), snaps.newest());
    QVERIFY(QFile::remove(snaps.newest()));
    QTRY_COMPARE(snaps.rowCount(), 0);
    QCOMPARE(snaps.newest(), QString());
  }

  void whatIsNoSnapDoesNotDisturb() {
    const QString folder = m_line.path("foreign");
    QVERIFY(QDir().mkpath(folder));
    const QByteArray whole = test::readFile(m_crash);
    QVERIFY(test::writeFile(folder + "/notes.txt", "text"));
    QVERIFY(test::writeFile(folder + "/empty.tbsnap", ""));
    QVERIFY(test::writeFile(folder + "/foreign.tbsnap", "not a snap at all"));
    QVERIFY(test::writeFile(folder + "/cut.tbsnap", whole.first(whole.size() / 2)));
    QVERIFY(QDir().mkpath(folder + "/folder.tbsnap"));
    QVERIFY(QFile::copy(m_crash, folder + "/good.tbsnap"));
    app::IncomingSnaps snaps(app::loaderServices().summary);
    const QAbstractItemModelTester tester(&snaps);
    snaps.setFolder(folder);
    QTRY_COMPARE(snaps.rowCount(), 4);
    QCOMPARE(snaps.newest(), folder + "/good.tbsnap");
    int unreadable = 0;
    for (int i = 0; i < 4; ++i)
      if (!snaps.snaps()[i].readable()) {
        ++unreadable;
        QVERIFY(cell(snaps, i, app::IncomingSnaps::kReason).contains(snaps.snaps()[i].problem));
      }
    QCOMPARE(unreadable, 3);
  }

  void aFileThatIsStillBeingCopiedIsReadOnceItIsWhole() {
    const QString folder = m_line.path("growing");
    QVERIFY(QDir().mkpath(folder));
    app::IncomingSnaps snaps(app::loaderServices().summary);
    snaps.setFolder(folder);
    const QByteArray whole = test::readFile(m_crash);
    QFile file(folder + "/copy.tbsnap");
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(whole.first(whole.size() / 2));
    QVERIFY(file.flush());
    QTRY_COMPARE(snaps.rowCount(), 1);
    QVERIFY(!snaps.snaps()[0].readable());
    file.write(whole.sliced(whole.size() / 2));
    file.close();  // the folder does not change by that
    QTRY_VERIFY(snaps.snaps()[0].readable());
    QCOMPARE(snaps.newest(), file.fileName());
  }

  void aClickOpensASnap() {
    Watched watched(m_line.snapFolder());
    QTRY_COMPARE(watched.snaps().rowCount(), 2);
    QTreeView* list = watched.panel()->list();
    QTRY_VERIFY(list->visualRect(watched.snaps().index(1, 0)).isValid());
    QSignalSpy loaded(&watched.window, &app::MainWindow::finishedLoading);
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                      list->visualRect(watched.snaps().index(1, 0)).center());
    QVERIFY(loaded.wait(30'000));
    QCOMPARE(loaded[0][0].toString(), QString());
    QVERIFY(watched.window.windowTitle().startsWith(QFileInfo(CRASH_PROGRAM).fileName() + ": SIGSEGV"));
  }

  void enterOpensASnap() {
    Watched watched(m_line.snapFolder());
    QVERIFY(QTest::qWaitForWindowActive(&watched.window));
    QTRY_COMPARE(watched.snaps().rowCount(), 2);
    QTreeView* list = watched.panel()->list();
    list->setFocus();
    list->setCurrentIndex(watched.snaps().index(1, 0));
    QSignalSpy loaded(&watched.window, &app::MainWindow::finishedLoading);
    QTest::keyClick(list, Qt::Key_Return);
    QVERIFY(loaded.wait(30'000));
    QVERIFY(watched.window.windowTitle().contains("SIGSEGV"));
  }

  void aKeyOpensTheNewest() {
    Watched watched(m_line.snapFolder());
    QVERIFY(QTest::qWaitForWindowActive(&watched.window));
    QTRY_COMPARE(watched.snaps().rowCount(), 2);
    QSignalSpy loaded(&watched.window, &app::MainWindow::finishedLoading);
    QTest::keyClick(&watched.window, Qt::Key_N, Qt::ControlModifier | Qt::ShiftModifier);
    QVERIFY(loaded.wait(30'000));
    QVERIFY(watched.window.windowTitle().contains("SIGABRT"));
    // Beside a trace the list is a panel of its own.
    watched.window.panels().dock("incomingDock")->show();
    QCOMPARE(watched.panel()->list()->model()->rowCount(), 2);
  }

  void deletingAsksAndMovesToTheTrash() {
    const QString folder = m_line.path("unwanted");
    QVERIFY(QDir().mkpath(folder));
    const QString file = folder + "/copy.tbsnap";
    QVERIFY(QFile::copy(m_crash, file));
    Watched watched(folder);
    QTRY_COMPARE(watched.snaps().rowCount(), 1);
    app::IncomingPanel* panel = watched.panel();
    panel->list()->setCurrentIndex(watched.snaps().index(0, 0));
    const auto ask = [&] {
      panel->trashAction()->trigger();
      return panel->findChild<QMessageBox*>();
    };
    QMessageBox* box = ask();
    QVERIFY(box != nullptr);
    box->button(QMessageBox::Cancel)->click();
    QVERIFY(QFile::exists(file));
    QTRY_VERIFY(panel->findChild<QMessageBox*>() == nullptr);
    box = ask();
    QVERIFY(box != nullptr);
    for (QAbstractButton* button : box->buttons())
      if (box->buttonRole(button) == QMessageBox::AcceptRole) button->click();
    QVERIFY(!QFile::exists(file));
    QTRY_COMPARE(watched.snaps().rowCount(), 0);
    QCOMPARE(test::readFile(m_line.path("XDG_DATA_HOME/Trash/files/copy.tbsnap")), test::readFile(m_crash));
  }
};

QTEST_MAIN(Incoming)
#include "tst_incoming.moc"
