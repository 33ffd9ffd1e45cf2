// The viewer as a program, and its window on a snap that was just recorded.

#include <QAction>
#include <QFileInfo>
#include <QImage>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>
#include <QTextBlock>
#include <algorithm>
#include <cstring>
#include <span>

#include "app/viewer/loader_services.h"
#include "app/viewer/main_window.h"
#include "loader/snap/inflate.h"
#include "runtime/format/snap.h"
#include "tests/app/command_line.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/summary/summary_strip.h"

using namespace traceback;
using test::CommandLine;
using test::Ran;

namespace {

bool complainsInOneLine(const Ran& ran) {
  return ran.err.startsWith("traceback-viewer: ") && ran.err.count('\n') == 1 && ran.err.endsWith('\n');
}

QString currentText(const app::MainWindow& window) {
  const views::CodeView* source = window.codePane()->sourceView();
  return source->document()->findBlockByNumber(source->currentLine()).text();
}

}  // namespace

class Program : public QObject {
  Q_OBJECT

  CommandLine m_line;
  QString m_snap;

  Ran viewer(const QStringList& arguments) {
    QProcessEnvironment environment = m_line.environment();
    environment.remove(QStringLiteral("DISPLAY"));
    environment.remove(QStringLiteral("WAYLAND_DISPLAY"));
    environment.remove(QStringLiteral("QT_QPA_PLATFORM"));
    return test::run(QStringLiteral(VIEWER_PROGRAM), arguments, environment);
  }

  // A compiler's cache may have made the program in another folder, whose name is in its debug information.
  app::Options whereTheSourceIs() const {
    app::Options options;
    const auto trace =
        app::loaderServices().load(m_snap.toStdString(), {[](double, const std::string&) {}, {}}, {});
    if (!trace) return options;
    for (const model::SourceFile& file : (*trace)->files)
      if (const auto mapping =
              app::mappingBetween(QString::fromStdString(file.path), QStringLiteral(CRASH_SOURCE)))
        options.sourceMappings.append(*mapping);
    return options;
  }

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QVERIFY(m_line.isReady());
    const Ran ran =
        m_line.throughShell(QStringLiteral("ulimit -c 0; exec \"$@\""),
                            {QStringLiteral("run"), QStringLiteral("--"), QStringLiteral(CRASH_PROGRAM)});
    QVERIFY2(m_line.snaps().size() == 1, ran.err.constData());
    m_snap = m_line.snaps().first();
  }

  void helpAndVersionNeedNoDisplay() {
    for (const char* option : {"--help", "-h"}) {
      const Ran ran = viewer({QString::fromLatin1(option)});
      QCOMPARE(ran.status, 0);
      QVERIFY(ran.out.contains("--screenshot"));
      QVERIFY(ran.err.isEmpty());
    }
    for (const char* option : {"--version", "-v"}) {
      const Ran ran = viewer({QString::fromLatin1(option)});
      QCOMPARE(ran.status, 0);
      QVERIFY(ran.out.startsWith("traceback-viewer "));
    }
  }

  void wrongCallIsToldInOneLine() {
    for (const char* option : {"--nonsense", "--size=1", "--goto=x", "--screenshot=a.png"}) {
      const Ran ran = viewer({QString::fromLatin1(option)});
      QCOMPARE(ran.status, 2);
      QVERIFY2(complainsInOneLine(ran), ran.err.constData());
    }
  }

  void pictureIsDrawnWithoutADisplay() {
    const QString picture = m_line.path(QStringLiteral("picture.png"));
    const Ran ran = viewer({QStringLiteral("--screenshot"), picture, QStringLiteral("--size"),
                            QStringLiteral("900x600"), QStringLiteral("--time-to-paint"), m_snap});
    QCOMPARE(ran.status, 0);
    QVERIFY2(ran.err.isEmpty(), ran.err.constData());
    QVERIFY(ran.out.startsWith("time to paint: "));
    QCOMPARE(QImage(picture).size(), QSize(900, 600));
  }

  void badFileIsToldInOneLineAndLeavesNoPicture_data() {
    QTest::addColumn<QByteArray>("bytes");
    const QByteArray whole = test::readFile(m_snap);
    QVERIFY(whole.size() > 200);
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("something else") << QByteArray("#!/bin/sh\n");
    QTest::newRow("cut off in the header") << whole.first(20);
  }

  void badFileIsToldInOneLineAndLeavesNoPicture() {
    QFETCH(QByteArray, bytes);
    const QString bad = m_line.path(QStringLiteral("bad.tbsnap"));
    const QString picture = m_line.path(QStringLiteral("bad.png"));
    QVERIFY(test::writeFile(bad, bytes));
    const Ran ran = viewer({QStringLiteral("--screenshot"), picture, bad});
    QCOMPARE(ran.status, 1);
    QVERIFY2(complainsInOneLine(ran) && ran.err.contains(bad.toUtf8()), ran.err.constData());
    QVERIFY(!QFileInfo::exists(picture));
  }

  void missingFileAndUnwritablePictureAreTold() {
    const Ran missing = viewer({QStringLiteral("--screenshot"), m_line.path(QStringLiteral("a.png")),
                                m_line.path(QStringLiteral("none.tbsnap"))});
    QCOMPARE(missing.status, 1);
    QVERIFY2(complainsInOneLine(missing) && missing.err.contains("none.tbsnap"), missing.err.constData());
    const QString nowhere = m_line.path(QStringLiteral("no/such/folder/a.png"));
    const Ran unwritable = viewer({QStringLiteral("--screenshot"), nowhere, m_snap});
    QCOMPARE(unwritable.status, 1);
    QVERIFY2(complainsInOneLine(unwritable) && unwritable.err.contains(nowhere.toUtf8()),
             unwritable.err.constData());
  }

  void recordedCrashOpensAtItsFaultAndStepsBack() {
    app::MainWindow window(app::loaderServices(), whereTheSourceIs(), false);
    QSignalSpy finished(&window, &app::MainWindow::finishedLoading);
    window.show();
    window.openFile(m_snap);
    QVERIFY(finished.wait(30'000));
    QCOMPARE(finished.first().first().toString(), QString());
    QCOMPARE(window.windowTitle(), QStringLiteral("crash: SIGSEGV in sum \u2014 TraceBack"));
    QVERIFY(window.summaryStrip()->headline().contains(QStringLiteral("at 0x8")));
    QVERIFY(window.codePane()->showsSource());
    QVERIFY2(currentText(window).contains(QStringLiteral("the fault")), qPrintable(currentText(window)));
    QVERIFY(window.navigator().step(model::Step::BackOver));
    QVERIFY(currentText(window).contains(QStringLiteral("while (count-- > 0)")) ||
            currentText(window).contains(QStringLiteral("node = node->next")));
    QVERIFY(window.navigator().step(model::Step::BackOut));
    QVERIFY2(currentText(window).contains(QStringLiteral("sum(nodes, 4)")), qPrintable(currentText(window)));
    QVERIFY(window.navigator().goToFault());
    window.codePane()->disassemblyAction()->setChecked(true);
    QVERIFY2(window.codePane()->showsDisassembly(), qPrintable(window.codePane()->notice()));
    const views::CodeView* code = window.codePane()->disassemblyView();
    bool faultMarked = false;
    for (int line = 0; line < code->blockCount(); ++line) {
      if (!code->mark(line).fault) continue;
      faultMarked = true;
      QVERIFY(code->mark(line).hits > 0);
      QVERIFY(code->document()->findBlockByNumber(line).text().contains(u'['));  // it reads memory
    }
    QVERIFY(faultMarked);
    // Calls say whom.
    QVERIFY(window.navigator().step(model::Step::BackOut));
    static const QRegularExpression kNamedCall(QStringLiteral("call .*<\\w+>"));
    QVERIFY2(code->toPlainText().contains(kNamedCall), qPrintable(code->toPlainText()));
  }

  // Cut anywhere, damaged anywhere, or written by a version to come: what can be read is shown with a note of
  // what is missing, and else the reason is.
  void whatIsLeftOfASnapOpensAndTheRestIsSaid() {
    const QByteArray whole = test::readFile(m_snap);
    QVERIFY(whole.size() > 1000);
    QList<std::pair<QString, QByteArray>> files;
    for (int percent = 0; percent < 100; percent += 5)
      files.append({QStringLiteral("cut at %1 %").arg(percent), whole.first(whole.size() * percent / 100)});
    for (qsizetype at = 0; at < whole.size(); at += whole.size() / 40) {
      QByteArray damaged = whole;
      for (qsizetype i = at; i < std::min(at + 64, damaged.size()); ++i)
        damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
      files.append({QStringLiteral("damaged at %1").arg(at), damaged});
    }
    QByteArray newer = whole;
    newer[offsetof(format::SnapHeader, version)] = 99;
    files.append({QStringLiteral("newer"), newer});
    const auto lengths = [](const model::Trace& trace) {
      QList<model::EntryIndex> each;
      for (const auto& thread : trace.threads) each.append(thread->entryCount());
      return each;
    };
    const auto undamaged =
        app::loaderServices().load(m_snap.toStdString(), {[](double, const std::string&) {}, {}}, {});
    QVERIFY(undamaged);
    const auto asRecorded = lengths(**undamaged);
    int shown = 0, refused = 0;
    app::MainWindow window(app::loaderServices(), whereTheSourceIs(), false);
    window.show();
    for (const auto& [what, bytes] : std::as_const(files)) {
      const QString name = m_line.path(QStringLiteral("left.tbsnap"));
      QFile file(name);
      QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
      file.close();
      QSignalSpy finished(&window, &app::MainWindow::finishedLoading);
      window.openFile(name);
      QVERIFY2(finished.wait(30'000), qPrintable(what));
      const QString error = finished.first().first().toString();
      if (error.isEmpty()) {
        ++shown;
        QCOMPARE(window.showing(), app::MainWindow::Showing::Trace);
        // Damage to the trace is never silent; that to the memory is told of when somebody asks for values.
        const model::Trace& trace = *window.navigator().trace();
        if (lengths(trace) != asRecorded) {
          QVERIFY2(!trace.report.empty(), qPrintable(what));
          QVERIFY2(!window.summaryStrip()->notes().isEmpty(), qPrintable(what));
        }
        window.navigator().step(model::Step::Back);
        window.navigator().goToFault();
      } else {
        ++refused;
        // What was opened before stays in sight.
        QCOMPARE(window.showing(),
                 shown > 0 ? app::MainWindow::Showing::Trace : app::MainWindow::Showing::Error);
        QVERIFY2(window.errorMessage().contains(QStringLiteral("left.tbsnap")), qPrintable(error));
      }
      if (what == QStringLiteral("newer"))
        QVERIFY2(error.contains(QStringLiteral("version 99 is newer")), qPrintable(error));
    }
    QVERIFY2(shown > 10 && refused > 0, qPrintable(QStringLiteral("%1, %2").arg(shown).arg(refused)));
  }

  // Only what the later revision added is not there: here the recorder's word for it is that of the command
  // line and the host, which stand in a section of a type that is not known yet.
  void aSnapOfALaterRevisionIsShownWithWhatIsLeftOut() {
    QByteArray bytes = test::readFile(m_snap);
    format::SnapHeader header;
    QVERIFY(bytes.size() > qsizetype{sizeof header});
    std::memcpy(&header, bytes.constData(), sizeof header);
    QCOMPARE(header.revision, format::kSnapRevision);  // as the recorder wrote it
    header.revision += 6;
    const std::span table(bytes.data() + header.tableOffset,
                          std::size_t{header.sectionCount} * header.sectionEntrySize);
    int changed = 0;
    for (std::uint32_t i = 0; i < header.sectionCount; ++i) {
      format::SectionEntry entry;
      char* const at = table.data() + std::size_t{i} * header.sectionEntrySize;
      std::memcpy(&entry, at, sizeof entry);
      if (entry.type != static_cast<std::uint32_t>(format::SectionType::Host)) continue;
      entry.type = 1234;
      std::memcpy(at, &entry, sizeof entry);
      ++changed;
    }
    QCOMPARE(changed, 1);
    header.tableCrc = loader::crcOf(std::as_bytes(table));
    std::memcpy(bytes.data(), &header, sizeof header);
    const QString later = m_line.path(QStringLiteral("later.tbsnap"));
    QVERIFY(test::writeFile(later, bytes));

    app::MainWindow window(app::loaderServices(), whereTheSourceIs(), false);
    window.show();
    QSignalSpy finished(&window, &app::MainWindow::finishedLoading);
    window.openFile(later);
    QVERIFY(finished.wait(30'000));
    QCOMPARE(finished.first().first().toString(), QString());
    QCOMPARE(window.windowTitle(), QStringLiteral("crash: SIGSEGV in sum \u2014 TraceBack"));
    QVERIFY2(currentText(window).contains(QStringLiteral("the fault")), qPrintable(currentText(window)));
    QVERIFY(window.navigator().step(model::Step::BackOut));
    QCOMPARE(window.summaryStrip()->notes(), QStringLiteral("2 notes"));
    QVERIFY(!window.summaryStrip()->details().contains(QStringLiteral(CRASH_PROGRAM)));
    QStringList notes;
    for (const auto& note : window.navigator().trace()->report.notes())
      notes.append(QString::fromStdString(note.text));
    QCOMPARE(notes.size(), 2);
    QVERIFY2(notes[0].contains(QStringLiteral("later revision")), qPrintable(notes[0]));
    QCOMPARE(notes[1], QStringLiteral("section of unknown type 1234: left out"));
  }
};

QTEST_MAIN(Program)
#include "tst_program.moc"
