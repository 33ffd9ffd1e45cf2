// The dialog of source folders, and what it says that they lead to.

#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeWidget>

#include "app/viewer/file_sources.h"
#include "app/viewer/source_folders_dialog.h"
#include "sample.h"
#include "views/source/code_pane.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;
using app::SourceFoldersDialog;
using app::SourceMapping;

class SourceFolders : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_folder;
  std::shared_ptr<model::Trace> m_trace = tests::sampleTrace();

  QString path(const QString& name) const { return m_folder.filePath(name); }
  void touch(const QString& name) const {
    QVERIFY(QDir().mkpath(QFileInfo(path(name)).path()));
    QFile file(path(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
  }
  static QString now(const SourceFoldersDialog& dialog, int row) {
    return dialog.list()->topLevelItem(row)->text(2);
  }
  static QList<SourceMapping> last(QSignalSpy& spy) {
    return spy.takeLast().first().value<QList<SourceMapping>>();
  }

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    touch(QStringLiteral("all/main.c"));
    touch(QStringLiteral("all/parser.c"));
    touch(QStringLiteral("one/main.c"));
  }

  void whatEachFolderLeadsToIsTold() {
    SourceFoldersDialog dialog({{QStringLiteral("/src"), path(QStringLiteral("one"))},
                                {QStringLiteral("/src"), path(QStringLiteral("all"))},
                                {QStringLiteral("/src"), path(QStringLiteral("gone"))},
                                {QStringLiteral("/elsewhere"), path(QStringLiteral("all"))}},
                               0, m_trace, app::sourceReach);
    dialog.show();
    QTRY_COMPARE(now(dialog, 0), QStringLiteral("1 of 2 files"));
    QCOMPARE(now(dialog, 1), QStringLiteral("2 of 2 files, 1 of them also by a row above"));
    QCOMPARE(now(dialog, 2), QStringLiteral("no such folder"));
    QCOMPARE(now(dialog, 3), QStringLiteral("no file of this trace was compiled there"));
    QVERIFY(dialog.list()->topLevelItem(0)->toolTip(2).contains(QStringLiteral("/src/parser.c")));
    QCOMPARE(dialog.summary()->text(), QStringLiteral("2 of the 2 source files of this trace are found."));
  }

  void foldersAreAddedEditedMovedAndRemovedByKeys() {
    SourceFoldersDialog dialog({{QStringLiteral("/src"), path(QStringLiteral("one"))}}, 0, m_trace,
                               app::sourceReach);
    QSignalSpy changed(&dialog, &SourceFoldersDialog::changed);
    dialog.show();
    QVERIFY(QTest::qWaitForWindowActive(&dialog));
    QTest::keyClick(dialog.addButton(), Qt::Key_Space);
    QCOMPARE(dialog.list()->topLevelItemCount(), 2);
    QVERIFY(dialog.from()->hasFocus());
    QTest::keyClicks(dialog.from(), QStringLiteral("/src"));
    QTest::keyClick(dialog.from(), Qt::Key_Tab);
    QTest::keyClicks(dialog.to(), path(QStringLiteral("all")));
    QTRY_COMPARE(now(dialog, 1), QStringLiteral("2 of 2 files, 1 of them also by a row above"));
    QTest::keyClick(dialog.upButton(), Qt::Key_Space);
    QCOMPARE(last(changed), (QList<SourceMapping>{{QStringLiteral("/src"), path(QStringLiteral("all"))},
                                                  {QStringLiteral("/src"), path(QStringLiteral("one"))}}));
    QTRY_COMPARE(now(dialog, 0), QStringLiteral("2 of 2 files"));
    QTRY_COMPARE(now(dialog, 1), QStringLiteral("1 of 2 files, 1 of them also by a row above"));
    QVERIFY(!dialog.upButton()->isEnabled());
    QTest::keyClick(dialog.removeButton(), Qt::Key_Space);
    QCOMPARE(last(changed), (QList<SourceMapping>{{QStringLiteral("/src"), path(QStringLiteral("one"))}}));
    QTRY_COMPARE(now(dialog, 0), QStringLiteral("1 of 2 files"));
  }

  void whatIsNotFilledInIsNotUsed() {
    SourceFoldersDialog dialog({}, 0, m_trace, app::sourceReach);
    QSignalSpy changed(&dialog, &SourceFoldersDialog::changed);
    dialog.show();
    dialog.addButton()->click();
    QTRY_COMPARE(now(dialog, 0), QStringLiteral("not filled in yet"));
    QTest::keyClicks(dialog.from(), QStringLiteral("/src"));
    QTRY_COMPARE(changed.size(), 1);
    QVERIFY(last(changed).isEmpty());
    // What is typed last counts even if the dialog is closed at once.
    QTest::keyClicks(dialog.to(), QStringLiteral("/there"));
    dialog.close();
    QCOMPARE(last(changed), (QList<SourceMapping>{{QStringLiteral("/src"), QStringLiteral("/there")}}));
  }

  void foldersOfTheCommandLineStay() {
    SourceFoldersDialog dialog({{QStringLiteral("/src"), path(QStringLiteral("one"))},
                                {QStringLiteral("/src"), path(QStringLiteral("all"))}},
                               1, m_trace, app::sourceReach);
    QSignalSpy changed(&dialog, &SourceFoldersDialog::changed);
    dialog.show();
    QVERIFY(dialog.from()->isReadOnly());
    QVERIFY(!dialog.removeButton()->isEnabled());
    dialog.list()->setCurrentItem(dialog.list()->topLevelItem(1));
    QVERIFY(!dialog.from()->isReadOnly());
    QVERIFY(!dialog.upButton()->isEnabled());
    dialog.removeButton()->click();
    QVERIFY(last(changed).isEmpty());
    QCOMPARE(dialog.list()->topLevelItemCount(), 1);
  }

  void theWindowShowsWhatTheFoldersLeadToAtOnce() {
    app::Services services = tests::sampleServices(m_trace);
    services.sources = app::fileSources;
    services.reach = app::sourceReach;
    app::MainWindow window(services, app::Options(), false);
    window.show();
    window.setTrace(m_trace);
    QVERIFY(!window.codePane()->showsSource());
    window.showSourceFolders();
    auto* dialog = window.findChild<SourceFoldersDialog*>();
    QVERIFY(dialog != nullptr);
    dialog->addButton()->click();
    QTest::keyClicks(dialog->from(), QStringLiteral("/src"));
    QTest::keyClicks(dialog->to(), path(QStringLiteral("all")));
    QTRY_VERIFY(window.codePane()->showsSource());
    dialog->removeButton()->click();
    QTRY_VERIFY(!window.codePane()->showsSource());
  }

  void foldersAreRememberedWhateverTheirNames() {
    const QList<SourceMapping> odd{{QStringLiteral("/a=b"), QStringLiteral("/c=d")},
                                   {QStringLiteral("/e,f"), QStringLiteral("/g h")}};
    app::Settings().setSourceMappings(odd);
    QCOMPARE(app::Settings().sourceMappings(), odd);
    app::Settings().addSourceMapping(odd[1]);
    QCOMPARE(app::Settings().sourceMappings(), (QList<SourceMapping>{odd[1], odd[0]}));
    app::Settings().setSourceMappings({});
    QVERIFY(app::Settings().sourceMappings().isEmpty());
  }
};

QTEST_MAIN(SourceFolders)
#include "tst_source_folders.moc"
