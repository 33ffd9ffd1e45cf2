// Sources that are not on this machine, from a debuginfod server.

#include <QAbstractButton>
#include <QLabel>
#include <QStatusBar>
#include <QTest>
#include <QTextBlock>
#include <QToolButton>

#include "app/viewer/file_sources.h"
#include "loader/symbols/debuginfod.h"
#include "sample.h"
#include "tests/loader/symbols/debuginfod_server.h"
#include "views/source/code_pane.h"
#include "views/source/code_view.h"
#include "views/source/source_note.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;
using test::DebuginfodServer;

namespace {

const QByteArray kId = "0123456789abcdef0123456789abcdef01234567";
const QString kParser = QStringLiteral("/src/parser.c");

}  // namespace

class SourceFetch : public QObject {
  Q_OBJECT

 private:
  std::shared_ptr<model::Trace> m_trace;

  std::unique_ptr<app::MainWindow> window() const {
    app::Services services = tests::sampleServices(m_trace, tests::Code::Nothing);
    services.sources = app::fileSources;
    auto window = std::make_unique<app::MainWindow>(services, app::Options(), false);
    window->show();
    window->setTrace(m_trace);
    return window;
  }
  static views::SourceNote* note(app::MainWindow& window) {
    return window.codePane()->findChild<views::SourceNote*>();
  }
  static model::Md5 sumOf(const QByteArray& bytes) {
    return model::md5(std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size()))));
  }

 private slots:
  void init() {
    m_trace = tests::sampleTrace();
    m_trace->modules[0].buildId = kId.toStdString();
    const DebuginfodServer server;
    QVERIFY(server.isReady());
    const auto found = loader::Debuginfod().debugInformation(kId.toStdString());
    if (!found && found.error().message.contains("not installed")) QSKIP("libdebuginfod is not installed");
  }

  void theSourceThatIsShownIsFetchedAndNoOther() {
    DebuginfodServer server;
    const QByteArray text = tests::sampleSources()[kParser].toUtf8();
    QVERIFY(server.serve(kId, QStringLiteral("source") + kParser, text));
    for (model::SourceFile& file : m_trace->files)
      if (file.path == kParser.toStdString()) file.checksums = {{{0}, sumOf(text)}};
    const auto window = this->window();
    views::CodePane* code = window->codePane();
    QCOMPARE(note(*window)->kind(), views::SourceNote::Kind::Progress);
    QVERIFY(code->check().contains(QStringLiteral("Fetching this source")));
    QTRY_VERIFY(code->showsSource());
    QVERIFY(code->check().contains(QStringLiteral("as compiled")));
    const views::CodeView* view = code->sourceView();
    QVERIFY(view->document()
                ->findBlockByNumber(view->currentLine())
                .text()
                .contains(QStringLiteral("node->first")));
    QCOMPARE(server.asked(), "/buildid/" + kId + "/source/src/parser.c\n");
    // It knows whose copy that is.
    bool named = false;
    for (const QLabel* label : code->findChildren<QLabel*>())
      named = named || label->text() == QStringLiteral("parser.c");
    QVERIFY(named);
  }

  void withoutServersNothingIsFetched() {
    qunsetenv("DEBUGINFOD_URLS");
    const auto window = this->window();
    QTest::qWait(100);
    QVERIFY(!note(*window)->isVisible());
    QVERIFY(!window->codePane()->showsSource());
  }

  void whatNoServerHasIsToldOnce() {
    DebuginfodServer server;
    const auto window = this->window();
    QTRY_VERIFY(window->statusBar()->currentMessage().contains(QStringLiteral("no server has it")));
    QVERIFY(!note(*window)->isVisible());
    const QByteArray asked = server.asked();
    window->codePane()->refresh();
    QTest::qWait(100);
    QVERIFY(!note(*window)->isVisible());
    QCOMPARE(server.asked(), asked);
  }

  // It would go on for ever; the window answers meanwhile.
  void fetchingCanBeGivenUp() {
    DebuginfodServer server(DebuginfodServer::Speed::Slow);
    QVERIFY(server.serve(kId, QStringLiteral("source") + kParser, QByteArray(100'000, ' ')));
    const auto window = this->window();
    QTRY_VERIFY(note(*window)->text().contains(QStringLiteral(" KB")));
    QTest::mouseClick(note(*window)->button(), Qt::LeftButton);
    QVERIFY(!note(*window)->isVisible());
    QVERIFY(!window->codePane()->showsSource());
  }

  void anotherVersionThanTheOneThatWasCompiledIsReplaced() {
    const QTemporaryDir folder;
    QFile stale(folder.filePath(QStringLiteral("parser.c")));
    QVERIFY(stale.open(QIODevice::WriteOnly));
    stale.write("int other;\n");
    stale.close();
    DebuginfodServer server;
    const QByteArray text = tests::sampleSources()[kParser].toUtf8();
    QVERIFY(server.serve(kId, QStringLiteral("source") + kParser, text));
    for (model::SourceFile& file : m_trace->files) {
      if (file.path != kParser.toStdString()) continue;
      file.checksums = {{{0}, sumOf(text)}};
    }
    app::Options options;
    options.sourceMappings = {{QStringLiteral("/src"), folder.path()}};
    app::Services services = tests::sampleServices(m_trace, tests::Code::Nothing);
    services.sources = app::fileSources;
    app::MainWindow window(services, options, false);
    window.show();
    window.setTrace(m_trace);
    QVERIFY(window.codePane()->showsSource());
    QTRY_VERIFY(window.codePane()->check().contains(QStringLiteral("as compiled")));
    QCOMPARE(window.codePane()->sourceView()->document()->firstBlock().text(),
             QString::fromUtf8(text).section(u'\n', 0, 0));
  }
};

QTEST_MAIN(SourceFetch)
#include "tst_source_fetch.moc"
