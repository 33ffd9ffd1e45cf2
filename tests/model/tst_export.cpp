// What an export holds, in each of its formats.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>
#include <QXmlStreamReader>
#include <algorithm>
#include <map>

#include "model/export/trace_export.h"
#include "model/text_format.h"
#include "random_trace.h"
#include "tests/builders/trace_text.h"

using namespace traceback;
using model::ExportFormat;

namespace {

constexpr const char* kTrace = R"(
thread 7 main
in outer main.c
  3
  call main main.c
    time 1000
    10
    call parse<int> parse.c
      20 x3
      time 5000
      21
      exception
    11
    call visit parse.c
      30 fault
      signal 11
thread 8 worker
gap overwritten
call work work.c
  5
)";

std::shared_ptr<model::Trace> sample() {
  auto trace = tests::traceOf(kTrace);
  trace->summary.program = "/usr/bin/a<b>&c";
  trace->summary.pid = 7;
  trace->clockStart = {.ticks = {0}, .realtime = {1'700'000'000'000'000'000}};
  trace->clockEnd = {.ticks = {10'000}, .realtime = {1'700'000'000'000'010'000}};
  return trace;
}

// Of the first thread, from 400 to 900 nanoseconds, in two stretches; its trace begins at 1,000.
std::shared_ptr<model::Trace> withHistory(std::shared_ptr<model::Trace> trace) {
  const auto& first = *trace->threads[0];
  const auto entries = first.entries(0, 100);
  const auto visit = std::ranges::find(entries, 30u, &model::Entry::line);
  const auto stretch = [&visit](std::uint64_t begin, std::uint64_t end) {
    model::HistoryStretch made;
    made.begin = {begin};
    made.end = {end};
    made.parts = 38;
    made.looked = 1;
    made.sampled = 100;
    made.unnamed = 10;
    made.functions.push_back(
        {.module = visit->module, .function = visit->function, .times = 90, .places = {}});
    return made;
  };
  auto history = std::make_shared<model::ThreadHistory>();
  history->stretches = {stretch(400, 700), stretch(700, 900)};
  auto info = first.info();
  info.history = history;
  trace->threads[0] = tests::threadOf(entries, 4, info);
  return trace;
}

QByteArray exported(const model::Trace& trace, ExportFormat format,
                    std::vector<model::ExportRange> ranges = {}) {
  if (ranges.empty())
    for (std::uint32_t i = 0; i < trace.threads.size(); ++i) ranges.push_back(model::wholeThread(trace, {i}));
  QByteArray out;
  const auto source = [](const model::SourceFile&, std::uint32_t line) {
    return line == 30 ? std::string("*p = \"<&\";") : std::string();
  };
  const bool all = model::exportTrace(trace, ranges, format, source, [&out](std::string_view piece) {
    out.append(piece.data(), static_cast<qsizetype>(piece.size()));
    return true;
  });
  return all ? out : QByteArray();
}

}  // namespace

class Export : public QObject {
  Q_OBJECT

 private slots:
  void textIsATreeOfAllThreads() {
    const QByteArray text = exported(*sample(), ExportFormat::Text);
    QVERIFY(text.contains("thread 1 (main, tid 7)"));
    QVERIFY(text.contains("thread 2 (worker, tid 8)"));
    QVERIFY2(text.contains("visit()\n") && text.contains("*p = \"<&\";  <-- fault"), text.constData());
    QVERIFY(text.contains("gap: "));
  }

  void jsonIsAnObjectALineForEveryEntry() {
    const auto trace = sample();
    const QByteArray text = exported(*trace, ExportFormat::Json);
    QCOMPARE(static_cast<std::uint64_t>(text.count('\n')),
             trace->threads[0]->entryCount() + trace->threads[1]->entryCount());
    for (const QByteArray& line : text.trimmed().split('\n'))
      QVERIFY(QJsonDocument::fromJson(line).isObject());
  }

  void htmlIsWellFormedAndStandsAlone() {
    const QByteArray page = exported(*sample(), ExportFormat::Html);
    QVERIFY(!page.contains("http:") && !page.contains("https:") && !page.contains("<script"));
    QCOMPARE(page.count("<details"), page.count("</details>"));
    QVERIFY(page.contains("a&lt;b&gt;&amp;c") && page.contains("*p = &quot;&lt;&amp;&quot;;"));
    // As XML it must balance, but for what HTML leaves open.
    QByteArray xml = page;
    xml.replace("<!DOCTYPE html>", "")
        .replace("<meta charset=\"utf-8\">", "")
        .replace("<details open>", "<details>");
    xml.replace("&larr;", "-");
    QXmlStreamReader reader(xml);
    while (!reader.atEnd()) reader.readNext();
    QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
  }

  void perfettoEventsNestAndTheirTimesRise() {
    const auto trace = sample();
    const QByteArray text = exported(*trace, ExportFormat::Perfetto);
    QJsonParseError error{};
    const QJsonObject document = QJsonDocument::fromJson(text, &error).object();
    QVERIFY2(error.error == QJsonParseError::NoError, qPrintable(error.errorString()));
    std::map<int, double> last;
    std::map<int, QStringList> open;
    std::map<int, int> instants;
    QStringList names;
    for (const auto& value : document["traceEvents"].toArray()) {
      const QJsonObject event = value.toObject();
      QCOMPARE(event["pid"].toInt(), 7);
      const int thread = event["tid"].toInt();
      const QString phase = event["ph"].toString();
      if (phase == "M") {
        names.append(event["args"].toObject()["name"].toString());
        continue;
      }
      const double time = event["ts"].toDouble(-1);
      QVERIFY(time >= 0 && (!last.contains(thread) || time >= last[thread]));
      last[thread] = time;
      if (phase == "B") open[thread].append(event["name"].toString());
      if (phase == "E") {
        QVERIFY(!open[thread].isEmpty());
        open[thread].removeLast();
      }
      if (phase == "i") {
        ++instants[thread];
        if (event["name"].toString().contains("*p")) QCOMPARE(open[thread].last(), QStringLiteral("visit"));
      }
    }
    QCOMPARE(names, (QStringList{"a<b>&c", "main", "worker"}));
    for (const auto& [thread, calls] : open) QVERIFY(calls.isEmpty());
    std::uint64_t steps = 0;
    for (model::EntryIndex i = 0; i < trace->threads[0]->entryCount(); ++i) {
      const auto kind = trace->threads[0]->entry(i).kind;
      if (kind != model::EntryKind::Call && kind != model::EntryKind::Return) ++steps;
    }
    QCOMPARE(static_cast<std::uint64_t>(instants[7]), steps);
  }

  void perfettoTimesLieBetweenTheReadingsOfTheClock() {
    const auto trace = sample();
    const QJsonArray events =
        QJsonDocument::fromJson(exported(*trace, ExportFormat::Perfetto, {model::wholeThread(*trace, {0})}))
            .object()["traceEvents"]
            .toArray();
    double first = -1, second = -1, between = -1;
    for (const auto& value : events) {
      const QJsonObject event = value.toObject();
      const QString name = event["name"].toString();
      if (name.startsWith("main.c:10")) first = event["ts"].toDouble();
      if (name.startsWith("parse.c:20")) between = event["ts"].toDouble();
      if (name.startsWith("parse.c:21")) second = event["ts"].toDouble();
    }
    QVERIFY(first >= 0 && between > first && second > between);
    QCOMPARE(second - first, 4.0);  // microseconds
  }

  void whatWasBeforeTheTraceIsInEachFormat() {
    const auto trace = withHistory(sample());
    const QByteArray text = exported(*trace, ExportFormat::Text);
    const auto before = text.indexOf("before the trace, by samples:"),
               from = text.indexOf("the trace:\n", before + 30);
    QVERIFY2(before > text.indexOf("thread 1 (main") && from > before, text.constData());
    QVERIFY(text.mid(before, from - before).contains("90 %  visit") && text.indexOf("thread 2") > from);
    QCOMPARE(text.count("before the trace"), 1);

    const QList<QByteArray> lines = exported(*trace, ExportFormat::Json).split('\n');
    for (int i = 0; i < 2; ++i) {
      const QJsonObject object = QJsonDocument::fromJson(lines[i]).object();
      QCOMPARE(object["kind"].toString(), QStringLiteral("history"));
      QCOMPARE(object["index"].toInt(-1), i);
    }
    QVERIFY(QJsonDocument::fromJson(lines[2]).object()["kind"].toString() != "history");

    QXmlStreamReader html(exported(*trace, ExportFormat::Html)
                              .replace("<meta charset=\"utf-8\">", "")
                              .replace("&larr;", "")
                              .replace("<details open>", "<details>"));
    QString read;
    while (!html.atEnd())
      if (html.readNext() == QXmlStreamReader::Characters) read += html.text();
    QVERIFY2(!html.hasError(), qPrintable(html.errorString()));
    QVERIFY(read.contains("Before the trace, by samples") && read.contains("90 %  visit"));

    const QByteArray perfetto = exported(*trace, ExportFormat::Perfetto, {model::wholeThread(*trace, {0})});
    double last = -1, ended = -1;
    int slices = 0;
    const QJsonArray events = QJsonDocument::fromJson(perfetto).object()["traceEvents"].toArray();
    QVERIFY(!events.isEmpty());
    for (const auto& value : events) {
      const QJsonObject event = value.toObject();
      if (event["tid"].toInt() != 7 || event["ph"].toString() == "M") continue;
      const double time = event["ts"].toDouble(-1);
      QVERIFY(time >= last && time >= 0);
      last = time;
      if (event["cat"].toString() == "history") {
        QCOMPARE(event["ph"].toString(), QStringLiteral("B"));
        QCOMPARE(event["args"].toObject()["functions"].toObject()["visit"].toInt(), 90);
        QVERIFY(event["name"].toString().endsWith("mostly visit"));
        QCOMPARE(time, slices == 0 ? 0.0 : 0.3);  // microseconds
        ++slices;
      } else if (event["ph"].toString() == "E" && slices == 2 && ended < 0) {
        ended = time;
      }
    }
    QCOMPARE(slices, 2);
    QCOMPARE(ended, 0.5);

    // Not of a stretch from somewhere within.
    const QByteArray part = exported(*trace, ExportFormat::Text, {{.thread = {0}, .first = 1, .end = 3}});
    QVERIFY(!part.contains("before the trace"));
  }

  void damagedTracesNestAllTheSame() {
    for (std::uint32_t seed = 1; seed <= 30; ++seed) {
      auto trace = sample();
      trace->threads.clear();
      trace->threads.push_back(tests::threadOf(tests::randomEntries(seed, 300, tests::Shape::Wild), 7));
      const QByteArray page = exported(*trace, ExportFormat::Html);
      QCOMPARE(page.count("<details"), page.count("</details>"));
      const QByteArray events = exported(*trace, ExportFormat::Perfetto);
      QCOMPARE(events.count("\"ph\":\"B\""), events.count("\"ph\":\"E\""));
      QVERIFY(QJsonDocument::fromJson(events).isObject());
    }
  }

  void aStretchIsExportedAlone() {
    const auto trace = sample();
    const model::EntryIndex at = tests::lineAt(*trace->threads[0], 20);
    const QByteArray text = exported(*trace, ExportFormat::Json, {{{0}, at, at + 2}});
    QCOMPARE(text.count('\n'), 2);
    const QByteArray page = exported(*trace, ExportFormat::Html, {{{0}, at, at + 2}});
    QCOMPARE(page.count("<details"), page.count("</details>"));
  }

  void whatCannotBeWrittenEndsIt() {
    const auto trace = sample();
    for (const auto format :
         {ExportFormat::Text, ExportFormat::Json, ExportFormat::Html, ExportFormat::Perfetto}) {
      int pieces = 0;
      const model::ExportRange range = model::wholeThread(*trace, {0});
      QVERIFY(!model::exportTrace(
          *trace, std::span(&range, 1), format, [](const auto&, auto) { return std::string(); },
          [&pieces](std::string_view) { return ++pieces < 2; }));
      QCOMPARE(pieces, 2);
    }
  }
};

QTEST_GUILESS_MAIN(Export)
#include "tst_export.moc"
