// Lines of gdb's machine interface.
#include <QTest>

#include "loader/values/gdb_session.h"
#include "loader/values/mi_parser.h"

using traceback::loader::MiValue;
using traceback::loader::parseMiLine;

class MiParser : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aResultHasItsTokenClassAndValues() {
    const auto record =
        parseMiLine("12^done,stack=[frame={level=\"0\",func=\"f\"},frame={level=\"1\"}],n=\"2\"");
    QVERIFY(record.has_value());
    QCOMPARE(record->kind, '^');
    QCOMPARE(*record->token, 12UL);
    QVERIFY(record->name == "done");
    const auto* stack = record->results.find("stack");
    QVERIFY(stack != nullptr && stack->kind == MiValue::Kind::List);
    QCOMPARE(stack->items.size(), 2UL);
    QVERIFY(stack->items[0].value.textOf("func") == "f");
    QVERIFY(stack->items[1].value.textOf("func").empty());
    QVERIFY(record->results.textOf("n") == "2");
  }

  void textIsWhatItWasBeforeItWasEscaped() {
    const auto record = parseMiLine("^done,value=\"\\\"caf\\303\\251\\\"\\t\\\\ \\n\"");
    QVERIFY(record->results.textOf("value") == "\"caf\u00e9\"\t\\ \n");
    const auto stream = parseMiLine("~\"a line\\n\"");
    QVERIFY(stream->kind == '~' && stream->name == "a line\n");
  }

  void emptyTuplesAndListsAreValues() {
    const auto record = parseMiLine("^done,a={},b=[],c=[\"x\",\"y\"]");
    QVERIFY(record->results.find("a")->items.empty());
    QVERIFY(record->results.find("b")->items.empty());
    QVERIFY(record->results.find("c")->items[1].value.text == "y");
  }

  void thePromptIsNoRecord() { QCOMPARE(parseMiLine("(gdb) ")->kind, '('); }

  void whatIsCutOrWrongIsNothing_data() {
    QTest::addColumn<QByteArray>("line");
    for (const char* line :
         {"", "hello", "12", "^done,", "^done,a", "^done,a=", "^done,a=\"x", "^done,a=\"x\\",
          "^done,a={b=\"1\"", "^done,a=[}", "^done,a=\"1\"b", "~\"x\"y", "12&"})
      QTest::newRow(line) << QByteArray(line);
    QTest::newRow("too deep") << "^done,a=" + QByteArray(100'000, '[');
  }
  void whatIsCutOrWrongIsNothing() {
    QFETCH(QByteArray, line);
    QVERIFY(!parseMiLine({line.data(), static_cast<std::size_t>(line.size())}));
  }

  void whatIsAskedIsQuoted() {
    QVERIFY(traceback::loader::miQuoted("a \"b\" \\ c\n") == "\"a \\\"b\\\" \\\\ c\\n\"");
  }
};

QTEST_APPLESS_MAIN(MiParser)
#include "tst_mi_parser.moc"
