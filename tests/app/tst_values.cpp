// The values of variables at the end, as the command line prints them: of a program that was recorded here.
#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStandardPaths>
#include <QTest>

#include "loader/values/gdb_session.h"
#include "loader/values/missing_memory.h"
#include "loader/values/read_values.h"
#include "tests/app/command_line.h"

using namespace traceback::test;
using traceback::loader::GdbSession;

namespace {

QList<QJsonObject> objectsIn(const QByteArray& lines) {
  QList<QJsonObject> objects;
  for (const QByteArray& line : lines.split('\n'))
    if (!line.isEmpty()) objects.append(QJsonDocument::fromJson(line).object());
  return objects;
}

QJsonObject frameOf(const QList<QJsonObject>& frames, const QString& function) {
  for (const QJsonObject& frame : frames)
    if (frame["function"].toString() == function) return frame;
  return {};
}

QJsonObject variable(const QJsonValue& values, const QString& name) {
  for (const QJsonValue value : values.toArray())
    if (value["name"].toString() == name) return value.toObject();
  return {};
}

QString textOf(const QJsonValue& values, const QString& name) {
  return variable(values, name)["value"].toString();
}

}  // namespace

class ValuesTest : public QObject {
  Q_OBJECT

  CommandLine m_line;
  QString m_writable, m_stacks, m_none;

  QString record(const QString& program, const QString& memory) {
    const QStringList before = m_line.snaps();
    m_line.throughShell(QStringLiteral("ulimit -c 0; exec \"$@\""),
                        {"run", "--only", program, "--memory", memory, "--", program, "fault"});
    QStringList snaps = m_line.snaps();
    for (const QString& old : before) snaps.removeAll(old);
    return snaps.size() == 1 ? snaps.first() : QString();
  }

  // A program and its library, where the library can be replaced.
  QString library() const { return m_line.path("libon_demand_library.so"); }
  static bool replaceBy(const QString& other, const QString& file) {
    return (!QFile::exists(file) || QFile::remove(file)) && QFile::copy(other, file);
  }
  QString recordWithLibrary(const QString& memory) {
    const QString program = m_line.path("on_demand");
    if (!replaceBy(ON_DEMAND_PROGRAM, program) || !replaceBy(ON_DEMAND_LIBRARY, library())) return {};
    m_line.environment().insert("LD_LIBRARY_PATH", m_line.folder());
    QString snap = record(program, memory);
    m_line.environment().remove("LD_LIBRARY_PATH");
    return snap;
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_line.isReady());
    if (QStandardPaths::findExecutable("gdb").isEmpty()) QSKIP("gdb is not there");
    m_writable = record(VALUES_PROGRAM, "writable");
    m_stacks = record(VALUES_PROGRAM, "stacks");
    m_none = record(VALUES_PROGRAM, "none");
    QVERIFY(!m_writable.isEmpty() && !m_stacks.isEmpty() && !m_none.isEmpty());
  }

  void everyFrameTellsItsVariables() {
    const Ran ran = m_line.traceback({"print", "--values", "--format", "json", m_writable});
    QCOMPARE(ran.status, 0);
    const auto frames = objectsIn(ran.out);
    const QJsonObject& innermost = frames.first();
    QCOMPARE(innermost["function"].toString(), "scaled");
    QCOMPARE(innermost["inlined"].toBool(), true);
    QCOMPARE(textOf(innermost["locals"], "doubled"), "8");
    const QJsonObject measure = frameOf(frames, "measure");
    QCOMPARE(measure["frame"].toInt(), 1);
    QCOMPARE(measure["inlined"].toBool(), false);
    QCOMPARE(textOf(measure["arguments"], "ratio"), "2.5");
    QCOMPARE(textOf(measure["arguments"], "name"), "\"a name that is longer than any short string\"");
    QCOMPARE(textOf(measure["arguments"], "target"), "0x0");
    QCOMPARE(textOf(measure["locals"], "greeting"), "\"hello a name that is longer than any short string\"");
    QVERIFY(measure["registers"]["rsp"].toString().startsWith("0x7ff"));
    // A structure's parts, and a container's.
    const QJsonObject corner = variable(measure["locals"], "corner");
    QCOMPARE(textOf(corner["parts"], "x"), "4");
    QCOMPARE(textOf(corner["parts"], "y"), "-4");
    const QJsonObject numbers = variable(measure["arguments"], "numbers");
    QCOMPARE(numbers["parts"].toArray().size(), 4);
    QCOMPARE(textOf(numbers["parts"], "[3]"), "3");
    // Activations of a recursive function are at one place, and are not inlined.
    int depth = 3;
    for (const QJsonObject& frame : frames) {
      if (frame["function"].toString() != "descend") continue;
      QCOMPARE(frame["inlined"].toBool(), false);
      QCOMPARE(textOf(frame["arguments"], "depth"), QString::number(depth--));
    }
    QCOMPARE(depth, -1);
  }

  void aFrameAndGlobalsCanBeAskedFor() {
    const Ran ran = m_line.traceback({"print", "--values", "--frame", "1", "--global", "failures", "--global",
                                      "no_such_thing", "--format", "json", m_writable});
    QCOMPARE(ran.status, 0);
    const auto objects = objectsIn(ran.out);
    QCOMPARE(objects.size(), 3);
    QCOMPARE(objects[0]["function"].toString(), "measure");
    QCOMPARE(objects[1]["global"]["value"].toString(), "8");
    QCOMPARE(objects[2]["global"]["known"].toBool(true), false);
    QVERIFY(objects[2]["global"]["value"].toString().contains("no_such_thing"));
  }

  void peopleGetText() {
    const Ran ran = m_line.traceback({"print", "--values", "--thread", "all", m_stacks});
    QCOMPARE(ran.status, 0);
    for (const char* line :
         {"thread 1", "  #0   scaled  values.cpp:", "[inlined]", "       count = 4\n",
          "       corner = {x = 4, y = -4}\n", "waitForEver", "       left = 42\n", "rip "})
      QVERIFY2(ran.out.contains(line), ran.out + line);
    // What lies on the heap was not kept, and is not made up.
    QVERIFY2(ran.out.contains("Cannot access memory"), ran.out);
    QVERIFY2(ran.err.contains("`run --memory writable` keeps"), ran.err);
    const Ran all = m_line.traceback({"print", "--values", "--thread", "all", m_writable});
    QVERIFY2(!all.err.contains("--memory"), all.err);
  }

  void moreMemoryIsAdvisedOnlyWhereThereWasSome() {
    using namespace traceback;
    const auto with = [](const char* text) {
      model::Value part, whole;
      part.text = text;
      whole.parts = {part};
      model::Values values;
      values.threads.emplace_back().frames.emplace_back().locals = {whole};
      return values;
    };
    std::vector<format::Mapping> mappings(2);
    mappings[0] = {.start = 0x1000, .end = 0x2000, .writable = true, .path = {}};
    mappings[1] = {.start = 0x2000, .end = 0x3000, .path = "/usr/lib/libc.so.6"};
    QVERIFY(loader::missesMemory(with("<error: Cannot access memory at address 0x1ff8>"), mappings));
    QVERIFY(!loader::missesMemory(with("<error: Cannot access memory at address 0x2008>"), mappings));
    QVERIFY(!loader::missesMemory(with("<error: Cannot access memory at address 0x8>"), mappings));
    QVERIFY(!loader::missesMemory(with("<optimized out>"), mappings));
  }

  void whatIsMissingIsSaidInOneLine() {
    const Ran none = m_line.traceback({"print", "--values", m_none});
    QCOMPARE(none.status, 1);
    QVERIFY2(none.complainsInOneLine() && none.err.contains("--memory"), none.err);

    const QString path = m_line.environment().value("PATH");
    m_line.environment().insert("PATH", m_line.folder());
    const Ran without = m_line.traceback({"print", "--values", m_stacks});
    m_line.environment().insert("PATH", path);
    QCOMPARE(without.status, 1);
    QVERIFY2(without.complainsInOneLine() && without.err.contains("gdb"), without.err);
  }

  // Another build has its variables elsewhere: what would be read there are not their values.
  void valuesAreNotReadWithAnotherProgram() {
    const QString program = m_line.path("changing");
    QVERIFY(QFile::copy(VALUES_PROGRAM, program));
    const QString snap = record(program, "stacks");
    QVERIFY(!snap.isEmpty());
    QCOMPARE(m_line.traceback({"print", "--values", snap}).status, 0);
    QVERIFY(QFile::remove(program) && QFile::copy(CRASH_PROGRAM, program));
    const Ran ran = m_line.traceback({"print", "--values", snap});
    // The instrumented form is there still, in the cache: it is the one that ran.
    QCOMPARE(ran.status, 0);
    QVERIFY2(ran.out.contains("corner = {x = 4, y = -4}"), ran.out);
    QDir(m_line.path("cache")).removeRecursively();
    const Ran gone = m_line.traceback({"print", "--values", snap});
    QCOMPARE(gone.status, 1);
    QVERIFY2(gone.complainsInOneLine() && gone.err.contains("not the one that ran"), gone.err);
  }

  // Nor are its lines and functions where they were.
  void aFrameIsNotNamedByAnotherBuildOfItsLibrary() {
    const QString snap = recordWithLibrary("stacks");
    QVERIFY(!snap.isEmpty());
    const Ran same = m_line.traceback({"print", "--values", snap});
    QVERIFY2(same.out.contains("#0   on_demand_library  on_demand_library.c:"), same.out);
    QVERIFY(replaceBy(ON_DEMAND_PLUGIN, library()));
    const Ran other = m_line.traceback({"print", "--values", snap});
    QCOMPARE(other.status, 0);
    QVERIFY2(other.err.contains("not the one that ran"), other.err);
    QVERIFY2(other.out.contains("  #0   ?  0x") && !other.out.contains("on_demand_library.c"), other.out);
  }

  void aVariableIsNotReadByAnotherBuildOfItsLibrary() {
    const QString snap = recordWithLibrary("writable");
    QVERIFY(!snap.isEmpty());
    const QStringList call{"print", "--values", "--global", "on_demand_nowhere", snap};
    const Ran same = m_line.traceback(call);
    QVERIFY2(same.out.contains("\non_demand_nowhere = 0x0"), same.out);
    QVERIFY(replaceBy(ON_DEMAND_PLUGIN, library()));
    const Ran other = m_line.traceback(call);
    QCOMPARE(other.status, 0);
    QVERIFY2(other.out.contains("\non_demand_nowhere = ") && other.out.contains("No symbol"), other.out);
    QVERIFY2(other.err.contains("its variables are not known"), other.err);
  }

  void aFrameThatThereIsNotIsNamed() {
    const Ran ran = m_line.traceback({"print", "--values", "--frame", "99", m_stacks});
    QCOMPARE(ran.status, 1);
    QCOMPARE(ran.out, QByteArray());
    QVERIFY2(ran.complainsInOneLine() && ran.err.contains("no frame 99"), ran.err);
    const Ran json = m_line.traceback({"print", "--values", "--frame", "99", "--format", "json", m_stacks});
    QCOMPARE(json.status, 1);
    QCOMPARE(json.out, QByteArray());
    // Of several threads, one has it.
    QMap<int, int> counts;
    const QStringList everything{"print", "--values", "--thread", "all", m_stacks};
    for (const QJsonObject& frame :
         objectsIn(m_line.traceback(everything + QStringList{"--format", "json"}).out))
      if (frame.contains("frame")) ++counts[frame["thread"].toInt()];
    QCOMPARE(counts.size(), 2);
    if (counts[1] == counts[2]) QSKIP("both threads have as many frames");
    const QString frame = QString::number(std::max(counts[1], counts[2]) - 1);
    const Ran all = m_line.traceback(everything + QStringList{"--frame", frame});
    QCOMPARE(all.status, 0);
    QVERIFY2(all.out.contains(QString("\n  #%1 ").arg(frame).toUtf8()) &&
                 all.out.contains(QString("note: it has no frame %1: there are ").arg(frame).toUtf8()),
             all.out);
  }

  void aSessionThatIsStoppedEnds() {
    std::stop_source stop;
    auto gdb = GdbSession::start({.stop = stop.get_token()});
    QVERIFY(gdb.has_value());
    QVERIFY(gdb->ask("-gdb-version").has_value());
    QVERIFY(!gdb->ask("-no-such-command").has_value());
    QVERIFY(!gdb->isLost());
    stop.request_stop();
    const auto answer = gdb->ask("-gdb-version");
    QVERIFY(!answer);
    QVERIFY(answer.error().message == "cancelled");
    QVERIFY(gdb->isLost());
  }

  void aCommandThatTakesTooLongIsGivenUp() {
    auto gdb = GdbSession::start({});
    QVERIFY(gdb.has_value());
    gdb->setAnswerLimit(std::chrono::milliseconds(100));
    const auto answer = gdb->ask("-interpreter-exec console \"shell sleep 30\"");
    QVERIFY(!answer);
    QVERIFY(answer.error().message.find("too long") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(ValuesTest)
#include "tst_values.moc"
