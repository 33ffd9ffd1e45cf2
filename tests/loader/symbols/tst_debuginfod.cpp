// Debug information and sources from a server by build id.
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTest>

#include "loader/symbols/debuginfod.h"
#include "loader/symbols/dwarf_line_source.h"
#include "loader/symbols/object_file.h"
#include "tests/loader/symbols/debuginfod_server.h"

using namespace traceback;
using loader::Debuginfod;
using test::DebuginfodServer;

namespace {

const QByteArray kId = "0123456789abcdef0123456789abcdef01234567";

bool run(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.start(program, arguments);
  return process.waitForFinished(60'000) && process.exitCode() == 0;
}

QByteArray contents(const std::string& path) {
  QFile file(QString::fromStdString(path));
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class DebuginfodTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    qunsetenv("DEBUGINFOD_URLS");
    const DebuginfodServer server;
    QVERIFY(server.isReady());
    Debuginfod client;
    const auto found = client.debugInformation(kId.toStdString());
    QVERIFY(!found);
    if (found.error().message.contains("not installed")) QSKIP("libdebuginfod is not installed");
  }

  // The program has no lines of its own; what belongs to it is at the server.
  void linesOfAStrippedProgramAreFetchedByItsBuildId() {
    DebuginfodServer server;
    const QTemporaryDir folder;
    const QString program = folder.filePath(QStringLiteral("program")),
                  debug = program + QStringLiteral(".debug");
    QVERIFY(run(QStringLiteral("gcc"), {QStringLiteral("-g"), QStringLiteral("-o"), program,
                                        QStringLiteral(TRACEBACK_TEST_PROGRAMS "/plain.c")}));
    QVERIFY(run(QStringLiteral("objcopy"), {QStringLiteral("--only-keep-debug"), program, debug}));
    QVERIFY(run(QStringLiteral("strip"), {program}));
    const std::string id = loader::ObjectFile::open(program.toStdString())->buildId();
    loader::ModuleFiles module;
    module.path = program.toStdString();
    module.buildId = id;
    std::string note;
    // Nobody to ask.
    auto lines = loader::openLineSource(module, note);
    QVERIFY(!lines || !lines->hasLines());
    QVERIFY(server.asked().isEmpty());
    // Asked, but it does not have it.
    Debuginfod client;
    module.debuginfod = &client;
    lines = loader::openLineSource(module, note);
    QVERIFY(!lines || !lines->hasLines());
    QVERIFY2(note.contains("no server has it"), note.c_str());
    // That it has not is remembered for a while.
    QVERIFY(QDir(server.cache()).removeRecursively());
    QVERIFY(server.serve(QByteArray::fromStdString(id), QStringLiteral("debuginfo"),
                         contents(debug.toStdString())));
    note.clear();
    lines = loader::openLineSource(module, note);
    QVERIFY2(lines && lines->hasLines(), note.c_str());
    QVERIFY(server.asked().contains("/buildid/" + QByteArray::fromStdString(id) + "/debuginfo"));
  }

  void aSourceIsFetchedByTheNameThatDebugInformationHas() {
    DebuginfodServer server;
    QVERIFY(server.serve(kId, QStringLiteral("source/build/a dir/x+y.c"), "int x;\n"));
    Debuginfod client;
    const auto path = client.source(kId.toStdString(), "/build/a dir/x+y.c");
    QVERIFY2(path.has_value(), path ? "" : path.error().message.c_str());
    QCOMPARE(contents(*path), QByteArray("int x;\n"));
    QVERIFY(!client.source(kId.toStdString(), "/build/none.c"));
    QVERIFY(!client.source(kId.toStdString(), "relative.c"));
    QVERIFY(!client.source({}, "/build/x.c"));
  }

  void nobodyIsAskedUnlessTheUserHasSetServers() {
    DebuginfodServer server;
    QVERIFY(server.serve(kId, QStringLiteral("source/a.c"), "int a;\n"));
    for (const char* none : {"", "  "}) {
      qputenv("DEBUGINFOD_URLS", none);
      QVERIFY(!Debuginfod::wanted());
      Debuginfod client;
      QVERIFY(!client.source(kId.toStdString(), "/a.c"));
    }
    qunsetenv("DEBUGINFOD_URLS");
    QVERIFY(!Debuginfod::wanted());
    QVERIFY(!Debuginfod().source(kId.toStdString(), "/a.c"));
    QVERIFY(server.asked().isEmpty());
    QVERIFY(!QFile::exists(server.cache()));
  }

  // It would go on for ever.
  void whatIsBeingFetchedCanBeEnded() {
    DebuginfodServer server(DebuginfodServer::Speed::Slow);
    QVERIFY(server.serve(kId, QStringLiteral("debuginfo"), QByteArray(100'000, 'x')));
    std::uint64_t most = 0;
    Debuginfod client([&](std::uint64_t done, std::uint64_t total) {
      if (total != 0 && done > total) return false;
      most = std::max(most, total);
      return total == 0 || done < 64;
    });
    const auto found = client.debugInformation(kId.toStdString());
    QVERIFY(!found);
    QCOMPARE(found.error().message, std::string("debuginfod: cancelled"));
    QCOMPARE(most, std::uint64_t{1'000'000});
    // Who does not want to wait for one file does not want to wait for the next.
    QByteArray asked = server.asked();
    QVERIFY(!client.source(kId.toStdString(), "/a.c"));
    QCOMPARE(server.asked(), asked);
  }

  void aServerThatIsNotThereIsAskedOnce() {
    const DebuginfodServer server;  // for the cache
    qputenv("DEBUGINFOD_URLS", "http://127.0.0.1:1");
    Debuginfod client;
    const auto first = client.debugInformation(kId.toStdString());
    QVERIFY(!first);
    const auto second = client.source(kId.toStdString(), "/a.c");
    QVERIFY(!second);
    if (first.error().message.contains("no server has it")) QSKIP("the library does not tell");
    QCOMPARE(second.error().message, first.error().message);
  }
};

QTEST_GUILESS_MAIN(DebuginfodTest)
#include "tst_debuginfod.moc"
