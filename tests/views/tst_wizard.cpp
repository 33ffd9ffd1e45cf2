// The wizard, driven by its widgets: a program is looked at, recorded, snapped and opened, and what it gives
// away in the end records when it is used.

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QRadioButton>
#include <QRegularExpression>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTest>
#include <QTreeView>
#include <span>

#include "app/viewer/color_scheme.h"
#include "app/viewer/loader_services.h"
#include "app/viewer/main_window.h"
#include "app/viewer/wizard/files_page.h"
#include "app/viewer/wizard/finish_page.h"
#include "app/viewer/wizard/libraries_page.h"
#include "app/viewer/wizard/policy_field.h"
#include "app/viewer/wizard/profile_field.h"
#include "app/viewer/wizard/record_wizard.h"
#include "app/viewer/wizard/settings_page.h"
#include "app/viewer/wizard/target_page.h"
#include "app/viewer/wizard/try_page.h"
#include "runtime/format/process.h"
#include "tests/app/command_line.h"
#include "tests/views/picture.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;
using app::FilesModel;

namespace {

constexpr int kPatience = 60'000;

// Its place in the table; -1 if it is not there.
int rowOf(const FilesModel& files, const QString& name) {
  for (int row = 0; row < files.rowCount(); ++row)
    if (files.index(row, FilesModel::kFile).data().toString() == name) return row;
  return -1;
}

}  // namespace

class Wizard : public QObject {
  Q_OBJECT

  test::CommandLine m_line;

  std::unique_ptr<app::RecordWizard> wizard() const {
    auto wizard =
        std::make_unique<app::RecordWizard>(test::CommandLine::program(), app::loaderServices().summary);
    wizard->show();
    return wizard;
  }

  static void press(app::RecordWizard& wizard, QWizard::WizardButton which) {
    QTest::mouseClick(wizard.button(which), Qt::LeftButton);
  }

  // Up to the page with the files, all of them known.
  void lookAt(app::RecordWizard& wizard, const QString& command) {
    wizard.target()->command()->setText(command);
    QVERIFY(wizard.button(QWizard::NextButton)->isEnabled());
    press(wizard, QWizard::NextButton);
    QCOMPARE(wizard.currentPage(), wizard.filesPage());
    QTRY_VERIFY_WITH_TIMEOUT(!wizard.filesPage()->stopButton()->isEnabled(), kPatience);
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_line.isReady());
    // What the wizard starts inherits this process's environment.
    for (const QString& name : m_line.environment().keys())
      qputenv(name.toLatin1(), m_line.environment().value(name).toLocal8Bit());
  }

  void wordsOfACommandAreThoseOfAShell_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<QStringList>("words");
    QTest::newRow("plain") << "./server  --port 80 " << QStringList{"./server", "--port", "80"};
    QTest::newRow("single quotes") << "a 'b  c'd" << QStringList{"a", "b  cd"};
    QTest::newRow("double quotes") << "a \"b \\\"c\\\" \\n\"" << QStringList{"a", "b \"c\" \\n"};
    QTest::newRow("backslash") << "a\\ b c" << QStringList{"a b", "c"};
    QTest::newRow("empty") << "a ''" << QStringList{"a", ""};
    QTest::newRow("nothing") << "   " << QStringList{};
    QTest::newRow("not closed") << "a 'b c" << QStringList{"a", "b c"};
  }
  void wordsOfACommandAreThoseOfAShell() {
    QFETCH(QString, line);
    QFETCH(QStringList, words);
    QCOMPARE(app::wordsOf(line), words);
  }

  // A real shell reads it back.
  void theCommandSurvivesAShell() {
    app::Recording recording;
    recording.command = {"/bin/echo", "a b", "c'd", "$HOME", "*", "", "\\", "e\nf", "~", "\"g\""};
    recording.environment = {"X=a 'b' $c", "Y="};
    const QString command = app::shellCommand("printf", recording);
    const test::Ran ran = m_line.throughShell(
        QStringLiteral("printf() { command printf '%s|' \"$X\" \"$Y\" \"$@\"; }\n") + command, {});
    QCOMPARE(ran.err, QByteArray());
    QCOMPARE(QString::fromUtf8(ran.out),
             (QStringList{"a 'b' $c", ""} + app::runArguments(recording)).join(u'|') + u'|');
  }

  void theDropInIsAsSystemdReadsIt() {
    app::Recording recording;
    recording.command = {"/usr/sbin/a server", "-g", "daemon off; $x 100% \"q\" \\"};
    recording.service = "my-app@1.service";
    recording.exclude = {"libcrypto*"};
    recording.bufferSize = "4M";
    recording.memory = "writable";
    recording.policy = "/etc/a policy";
    recording.profile = "/etc/a.tbprofile";
    recording.environment = {"MODE=a b%", "PRICE=$5"};
    const QStringList lines = app::dropIn("/opt/trace back/traceback", recording).split(u'\n');
    QVERIFY(lines.contains("[Service]"));
    const qsizetype reset = lines.indexOf("ExecStart=");
    QVERIFY(reset > 0);
    QCOMPARE(lines[reset + 1],
             QStringLiteral("ExecStart=\"/opt/trace back/traceback\" run --snap-dir %S/traceback-my-app_1 "
                            "--buffer-size 4M --policy \"/etc/a policy\" --profile /etc/a.tbprofile --memory "
                            "writable --exclude "
                            "\"libcrypto*\" -- \"/usr/sbin/a server\" -g "
                            "\"daemon off; $$x 100%% \\\"q\\\" \\\\\""));
    QVERIFY(lines.contains("Environment=\"MODE=a b%%\""));
    QVERIFY(lines.contains("Environment=\"PRICE=$5\""));
    QVERIFY(lines.contains("Environment=TRACEBACK_CACHE_DIR=%C/traceback-my-app_1"));
    QVERIFY(lines.contains("StateDirectory=traceback-my-app_1"));
    QVERIFY(lines.contains("StateDirectoryMode=0700"));
    // What is given away with a snap is said where an administrator reads it.
    const QString comments = lines.filter(QRegularExpression("^# ")).join(u' ').remove("# ");
    QVERIFY2(comments.contains("passwords and keys"), qPrintable(comments));
    QVERIFY2(comments.contains("Only the user that it runs as may read the file"), qPrintable(comments));
    QVERIFY(lines.contains("CacheDirectory=traceback-my-app_1"));
    QCOMPARE(app::dropInFile(recording),
             QStringLiteral("/etc/systemd/system/my-app@1.service.d/traceback.conf"));
    recording.snapFolder = "/var/snaps";
    const QString own = app::dropIn("/usr/bin/traceback", recording);
    QVERIFY(own.contains("--snap-dir /var/snaps "));
    QVERIFY(!own.contains("StateDirectory"));
  }

  void servicesAreReadFromControlGroups_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("service");
    QTest::addColumn<bool>("ofUser");
    QTest::newRow("system") << QByteArray("0::/system.slice/nginx.service\n") << "nginx.service" << false;
    QTest::newRow("below") << QByteArray("0::/system.slice/a.service/worker\n") << "a.service" << false;
    QTest::newRow("user") << QByteArray(
                                 "0::/user.slice/user-1000.slice/user@1000.service/app.slice/b.service\n")
                          << "b.service" << true;
    QTest::newRow("session") << QByteArray("0::/user.slice/user-1000.slice/session-2.scope\n") << "" << false;
    QTest::newRow("user's manager") << QByteArray(
                                           "0::/user.slice/user-1000.slice/user@1000.service/init.scope\n")
                                    << "" << false;
    QTest::newRow("old") << QByteArray("12:memory:/x.service\n1:name=systemd:/system.slice/c.service\n")
                         << "c.service" << false;
    QTest::newRow("nothing") << QByteArray() << "" << false;
    QTest::newRow("damaged") << QByteArray("::\nx\n0:/a.service") << "" << false;
  }
  void servicesAreReadFromControlGroups() {
    QFETCH(QByteArray, text);
    QFETCH(QString, service);
    QFETCH(bool, ofUser);
    app::RunningProcess process;
    app::readService(text, process);
    QCOMPARE(process.service, service);
    QCOMPARE(process.ofUser, ofUser);
  }

  void filesShowWhatIsTracedAndWhyNotTheRest() {
    const auto wizard = this->wizard();
    const QAbstractItemModelTester tester(&wizard->files());
    lookAt(*wizard, ON_DEMAND_PROGRAM " names");
    const FilesModel& files = wizard->files();
    const int program = rowOf(files, "on_demand"), library = rowOf(files, "libon_demand_library.so"),
              libc = rowOf(files, "libc.so.6");
    QCOMPARE(program, 0);
    QVERIFY(library > 0);
    QVERIFY(libc > 0);
    QVERIFY(files.isTraced(program) && files.isTraced(library) && !files.isTraced(libc));
    QVERIFY(files.index(program, FilesModel::kTraced).data().toInt() > 5);
    QVERIFY(files.index(libc, FilesModel::kWhat).data().toString().contains("the C library"));
    wizard->filesPage()->table()->setCurrentIndex(files.index(program, 0));
    QVERIFY2(wizard->filesPage()->details()->text().contains("startup code"),
             qPrintable(wizard->filesPage()->details()->text()));
    QVERIFY(wizard->button(QWizard::NextButton)->isEnabled());
  }

  void whatCannotBeRecordedSaysWhyAndGoesNoFurther_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QString>("says");
    QTest::newRow("static") << STATIC_PROGRAM << "statically linked";
    QTest::newRow("nothing") << "/no/such/program" << "no such file";
  }
  void whatCannotBeRecordedSaysWhyAndGoesNoFurther() {
    QFETCH(QString, command);
    QFETCH(QString, says);
    const auto wizard = this->wizard();
    lookAt(*wizard, command);
    QVERIFY2(wizard->filesPage()->summary()->text().contains(says),
             qPrintable(wizard->filesPage()->summary()->text()));
    QVERIFY(!wizard->button(QWizard::NextButton)->isEnabled());
  }

  void lookingCanBeStopped() {
    const auto wizard = this->wizard();
    wizard->target()->command()->setText(ON_DEMAND_PROGRAM);
    press(*wizard, QWizard::NextButton);
    QVERIFY(wizard->filesPage()->stopButton()->isEnabled());
    QTest::mouseClick(wizard->filesPage()->stopButton(), Qt::LeftButton);
    QVERIFY(!wizard->filesPage()->stopButton()->isEnabled());
    // And begins anew.
    press(*wizard, QWizard::BackButton);
    lookAt(*wizard, ON_DEMAND_PROGRAM);
    QCOMPARE(wizard->files().waiting(), 0);
    QVERIFY(wizard->files().tracedFiles() > 1);
  }

  void patternsAndChecksTakeEffectAtOnce() {
    const auto wizard = this->wizard();
    lookAt(*wizard, ON_DEMAND_PROGRAM);
    FilesModel& files = wizard->files();
    const int library = rowOf(files, "libon_demand_library.so");
    const int before = files.tracedFiles();
    QVERIFY(files.setData(files.index(0, FilesModel::kFile), Qt::Unchecked, Qt::CheckStateRole));
    QCOMPARE(files.tracedFiles(), before - 1);
    QVERIFY(!files.isTraced(0));
    press(*wizard, QWizard::NextButton);
    QCOMPARE(wizard->currentPage(), wizard->libraries());
    const QString effect = wizard->libraries()->effect()->text();
    wizard->libraries()->exclude()->setPlainText("libon_demand*");
    QVERIFY(!files.isTraced(library));
    QVERIFY(wizard->libraries()->effect()->text() != effect);
    wizard->libraries()->exclude()->clear();
    wizard->libraries()->only()->setPlainText("*on_demand_library*\n");
    QVERIFY(files.isTraced(library));
    QCOMPARE(files.tracedFiles(), 1);
    press(*wizard, QWizard::NextButton);
    QCOMPARE(wizard->recording().only, QStringList{"*on_demand_library*"});
    QCOMPARE(wizard->recording().exclude, QStringList{ON_DEMAND_PROGRAM});
  }

  void wrongSettingsAreSaidAndHoldTheWizardBack_data() {
    QTest::addColumn<QString>("buffer");
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QString>("environment");
    QTest::addColumn<bool>("good");
    QTest::newRow("defaults") << "" << "" << "" << true;
    QTest::newRow("all") << "4M" << "/tmp" << "A=b\n\nC_1=" << true;
    QTest::newRow("too little") << "1K" << "" << "" << false;
    QTest::newRow("too much") << "2G" << "" << "" << false;
    QTest::newRow("no number") << "much" << "" << "" << false;
    QTest::newRow("relative") << "" << "snaps" << "" << false;
    QTest::newRow("no folder") << "" << "/dev/null" << "" << false;
    QTest::newRow("no name") << "" << "" << "=b" << false;
    QTest::newRow("no value") << "" << "" << "A" << false;
  }
  void wrongSettingsAreSaidAndHoldTheWizardBack() {
    QFETCH(QString, buffer);
    QFETCH(QString, folder);
    QFETCH(QString, environment);
    QFETCH(bool, good);
    const auto wizard = this->wizard();
    app::SettingsPage* page = wizard->settings();
    if (!buffer.isEmpty()) page->buffer()->setEditText(buffer);
    page->folder()->setText(folder);
    page->environment()->setPlainText(environment);
    QCOMPARE(page->isComplete(), good);
    QCOMPARE(page->problem()->text().isEmpty(), good);
  }

  void allThatASnapMayKeepOfTheMemoryCanBeChosen() {
    const auto wizard = this->wizard();
    app::SettingsPage* page = wizard->settings();
    QSet<QString> said, values;
    for (int i = 0; i < page->memory()->count(); ++i) {
      page->memory()->setCurrentIndex(i);
      said.insert(page->contents()->text());
      QVERIFY2(page->contents()->text().contains("may read the file"), qPrintable(page->contents()->text()));
      values.insert(page->memory()->itemData(i).toString());
    }
    QCOMPARE(said.size(), page->memory()->count());
    QSet<QString> known{QString()};  // for the first of these
    for (const char* name : std::span(format::kKeptMemoryNames).subspan(1)) known.insert(name);
    QCOMPARE(values, known);
  }

  void whatIsWrongInAPolicyFileIsSaid() {
    const auto wizard = this->wizard();
    app::PolicyField* field = wizard->settings()->policy();
    QFile file(m_line.path("policy"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("no such rule\n") > 0);
    file.close();
    field->edit()->setText(file.fileName());
    QTRY_VERIFY_WITH_TIMEOUT(!field->note().isEmpty(), kPatience);
    QVERIFY2(field->note().contains("policy:1: "), qPrintable(field->note()));
    QVERIFY(wizard->settings()->isComplete());  // the other lines hold
    for (const char* wrong : {"policy", "/no/such/policy", "/tmp"}) {
      field->edit()->setText(wrong);
      QVERIFY(!wizard->settings()->isComplete());
    }
    field->edit()->clear();
    QVERIFY(wizard->settings()->isComplete());
  }

  void aProfileIsTakenIfItIsOne() {
    const auto wizard = this->wizard();
    app::ProfileField* field = wizard->settings()->profile();
    QFile good(m_line.path("a.tbprofile")), bad(m_line.path("notes"));
    QVERIFY(good.open(QIODevice::WriteOnly) && good.write("traceback-profile 2\n") > 0);
    QVERIFY(bad.open(QIODevice::WriteOnly) && bad.write("traceback") > 0);
    good.close();
    bad.close();
    for (const QString& wrong : {bad.fileName(), QString("a.tbprofile"), m_line.path("missing")}) {
      field->edit()->setText(wrong);
      QVERIFY2(!wizard->settings()->isComplete() && !field->problem().isEmpty(), qPrintable(wrong));
    }
    field->edit()->setText(good.fileName());
    QVERIFY2(wizard->settings()->isComplete(), qPrintable(field->problem()));
    QVERIFY(wizard->settings()->validatePage());
    field->edit()->clear();
    QVERIFY(wizard->settings()->isComplete());
  }

  void aCrashIsTriedOutAndItsSnapOpens() {
    const auto wizard = this->wizard();
    lookAt(*wizard, CRASH_PROGRAM);
    press(*wizard, QWizard::NextButton);
    press(*wizard, QWizard::NextButton);
    QCOMPARE(wizard->currentPage(), wizard->settings());
    const QString folder = m_line.path("tried");
    wizard->settings()->folder()->setText(folder);
    wizard->settings()->environment()->setPlainText("GREETING=hello");
    wizard->settings()->memory()->setCurrentIndex(wizard->settings()->memory()->findData("none"));
    press(*wizard, QWizard::NextButton);
    app::TryPage* page = wizard->tryPage();
    QCOMPARE(wizard->currentPage(), page);
    QSignalSpy opened(wizard.get(), &app::RecordWizard::openRequested);
    QTest::mouseClick(page->startButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!page->snap().isEmpty(), kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(page->state().contains("SIGSEGV"), kPatience);
    QVERIFY(page->snap().startsWith(folder + u'/'));
    QVERIFY(page->openButton()->isVisible());
    QTest::mouseClick(page->openButton(), Qt::LeftButton);
    QCOMPARE(opened.size(), 1);
    QCOMPARE(opened[0][0].toString(), page->snap());

    // What it gives away does the same.
    press(*wizard, QWizard::NextButton);
    QCOMPARE(wizard->currentPage(), wizard->finish());
    QTest::mouseClick(wizard->finish()->findChild<QPushButton*>("copyCommand"), Qt::LeftButton);
    const QString command = QGuiApplication::clipboard()->text();
    QVERIFY2(command.startsWith("GREETING=hello "), qPrintable(command));
    QVERIFY2(command.contains(" --memory none "), qPrintable(command));
    QVERIFY(wizard->finish()->contents()->text().contains("no values of variables"));
    const qsizetype before = m_line.snaps().size();
    QCOMPARE(m_line.throughShell(command, {}).status, 139);
    QCOMPARE(m_line.snaps().size(), before + 1);
    QVERIFY(wizard->finish()->saveDropIn(m_line.path("drop-in.conf")));
    const QByteArray dropIn = test::readFile(m_line.path("drop-in.conf"));
    QVERIFY(dropIn.contains("\nExecStart=\n"));
    QVERIFY(dropIn.contains("--snap-dir " + folder.toUtf8()));
    QVERIFY(dropIn.contains(" --memory none "));
    // As it says of who may read them.
    QCOMPARE(QFileInfo(page->snap()).permissions() & (QFile::ReadGroup | QFile::ReadOther),
             QFile::Permissions());
    QVERIFY(dropIn.contains("Environment=GREETING=hello\n"));
    QVERIFY(!wizard->finish()->saveDropIn("/no/such/folder/drop-in.conf"));
  }

  void aRunningProgramIsSnappedByAButton() {
    const auto wizard = this->wizard();
    lookAt(*wizard, "sleep 1000");
    for (int i = 0; i < 3; ++i) press(*wizard, QWizard::NextButton);
    app::TryPage* page = wizard->tryPage();
    QCOMPARE(wizard->currentPage(), page);
    QTest::mouseClick(page->startButton(), Qt::LeftButton);
    QVERIFY(page->stopButton()->isEnabled());
    // Before it records there is nothing to snap; it says so, and one tries again.
    QTRY_VERIFY_WITH_TIMEOUT(
        (page->snapButton()->isEnabled() && (QTest::mouseClick(page->snapButton(), Qt::LeftButton), true),
         !page->snap().isEmpty()),
        kPatience);
    QTest::mouseClick(page->stopButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(page->state().contains("SIGTERM"), kPatience);
    QVERIFY(page->startButton()->isEnabled());
  }

  void aRunningProcessIsChosenFromTheList() {
    QProcess process;
    process.start("sleep", {"12345"});
    QVERIFY(process.waitForStarted());
    const auto end = qScopeGuard([&] {
      process.kill();
      process.waitForFinished();
    });
    const auto wizard = this->wizard();
    app::TargetPage* page = wizard->target();
    const QAbstractItemModelTester tester(&page->processes());
    QTest::mouseClick(page->process(), Qt::LeftButton, {}, QPoint(8, page->process()->height() / 2));
    QVERIFY(page->process()->isChecked());
    QVERIFY(!page->isComplete());
    page->filter()->setText("sleep 12345");
    QTRY_COMPARE_WITH_TIMEOUT(page->list()->model()->rowCount(), 1, kPatience);
    page->list()->setCurrentIndex(page->list()->model()->index(0, 0));
    QVERIFY(page->command()->text().endsWith("sleep 12345"));
    QVERIFY(page->command()->text().startsWith("/"));
    QVERIFY(page->isComplete());
    press(*wizard, QWizard::NextButton);
    QTRY_VERIFY_WITH_TIMEOUT(!wizard->filesPage()->stopButton()->isEnabled(), kPatience);
    QCOMPARE(rowOf(wizard->files(), "sleep"), 0);
    QVERIFY(wizard->files().isTraced(0));
  }

  void everyPageIsDrawn_data() {
    QTest::addColumn<app::ColorScheme>("colors");
    QTest::newRow("light") << app::ColorScheme::Light;
    QTest::newRow("dark") << app::ColorScheme::Dark;
  }
  void everyPageIsDrawn() {
    QFETCH(app::ColorScheme, colors);
    app::useColorScheme(colors);
    const auto asItWas = qScopeGuard([] { app::useColorScheme(app::ColorScheme::Light); });
    const QString suffix = u'-' + QString::fromLatin1(QTest::currentDataTag());
    const auto wizard = this->wizard();
    wizard->target()->process()->setChecked(true);
    QTRY_VERIFY_WITH_TIMEOUT(wizard->target()->processes().rowCount() > 0, kPatience);
    tests::keep(*wizard, "wizard-processes" + suffix);
    const double light = tests::lightness(*wizard, wizard->currentPage());
    QVERIFY2(colors == app::ColorScheme::Dark ? light < 0.4 : light > 0.6,
             qPrintable(QString::number(light)));
    wizard->target()->program()->setChecked(true);
    const QString program = qEnvironmentVariable("TRACEBACK_PICTURED_PROGRAM", CRASH_PROGRAM);
    wizard->target()->command()->setText(program);
    tests::keep(*wizard, "wizard-program" + suffix);
    lookAt(*wizard, program);
    tests::keep(*wizard, "wizard-files" + suffix);
    press(*wizard, QWizard::NextButton);
    wizard->libraries()->exclude()->setPlainText("libpthread*\nlibz*");
    tests::keep(*wizard, "wizard-libraries" + suffix);
    press(*wizard, QWizard::NextButton);
    wizard->settings()->environment()->setPlainText("MODE=test");
    tests::keep(*wizard, "wizard-settings" + suffix);
    wizard->settings()->buffer()->setEditText("1K");
    tests::keep(*wizard, "wizard-settings-wrong" + suffix);
    wizard->settings()->buffer()->setCurrentIndex(0);
    press(*wizard, QWizard::NextButton);
    tests::keep(*wizard, "wizard-try" + suffix);
    QTest::mouseClick(wizard->tryPage()->startButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(wizard->tryPage()->startButton()->isEnabled(), kPatience);
    QTest::qWait(500);
    tests::keep(*wizard, "wizard-tried" + suffix);
    press(*wizard, QWizard::NextButton);
    tests::keep(*wizard, "wizard-finish" + suffix);
  }

  void everythingHasANameAndIsReached() {
    const auto wizard = this->wizard();
    for (const int id : wizard->pageIds())
      for (QWidget* widget : wizard->page(id)->findChildren<QWidget*>()) {
        if (widget->objectName().startsWith("qt_") || widget->inherits("QHeaderView") ||
            qobject_cast<QComboBox*>(widget->parentWidget()) != nullptr ||
            qobject_cast<QLineEdit*>(widget->parentWidget()) != nullptr || widget->window() != wizard.get())
          continue;
        const bool used = qobject_cast<QAbstractButton*>(widget) != nullptr ||
                          qobject_cast<QLineEdit*>(widget) != nullptr ||
                          qobject_cast<QPlainTextEdit*>(widget) != nullptr ||
                          qobject_cast<QTreeView*>(widget) != nullptr;
        // Of radio buttons the arrow keys reach the others.
        if (!used || qobject_cast<QRadioButton*>(widget) != nullptr) continue;
        const QByteArray what = QByteArray(widget->metaObject()->className()) + ' ' +
                                widget->objectName().toUtf8() + " of page " + QByteArray::number(id);
        QVERIFY2((widget->focusPolicy() & Qt::TabFocus) != 0, what.constData());
        const QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(widget);
        QVERIFY2(accessible != nullptr && !accessible->text(QAccessible::Name).isEmpty(), what.constData());
      }
  }

  void theWindowLeadsThere() {
    app::Services services = app::loaderServices();
    services.traceback = test::CommandLine::program();
    app::MainWindow window(services, {}, false);
    window.show();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    auto* button = window.findChild<QPushButton*>("recordProgram");
    QVERIFY(button != nullptr && button->isVisible());
    QTest::mouseClick(button, Qt::LeftButton);
    auto* wizard = window.findChild<app::RecordWizard*>();
    QVERIFY(wizard != nullptr && wizard->isVisible());
    QSignalSpy loaded(&window, &app::MainWindow::finishedLoading);
    emit wizard->openRequested(m_line.snaps().first());
    QVERIFY(loaded.wait(kPatience));
    QCOMPARE(loaded[0][0].toString(), QString());
  }
};

QTEST_MAIN(Wizard)
#include "tst_wizard.moc"
