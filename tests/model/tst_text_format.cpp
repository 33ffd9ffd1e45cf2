#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include "model/demangle.h"
#include "model/text_format.h"
#include "model/utf8.h"
#include "tests/builders/trace_text.h"

using namespace traceback::model;
using namespace traceback::tests;

namespace {

std::string textOf(const char* trace, EntryIndex at) {
  const auto made = traceOf(trace);
  return entryText(*made, made->threads[0]->entry(at));
}

std::string jsonOf(const Trace& trace, EntryIndex at) {
  return entryJson(trace, ThreadIndex{0}, at, trace.threads[0]->entry(at));
}

}  // namespace

class TextFormatTest : public QObject {
  Q_OBJECT

 private slots:
  void entriesReadAsOneLine() {
    QCOMPARE(textOf("in visit parser.c\n  120\n", 0), std::string("parser.c:120  visit"));
    QCOMPARE(textOf("in visit parser.c\n  120 fault partial\n", 0),
             std::string("parser.c:120  visit [fault, cut short]"));
    QCOMPARE(textOf("in visit parser.c\n  0\n", 0), std::string("prog+0x1000  visit"));
    QCOMPARE(textOf("call visit parser.c\n", 0), std::string("call visit"));
    QCOMPARE(textOf("call main main.c\n  call visit parser.c from 12 inlined\n    120\n", 1),
             std::string("call visit  main.c:12 [inlined]"));
    QCOMPARE(textOf("call visit parser.c interrupted\n  1\nend\n", 2),
             std::string("return from visit [unwound]"));
    QCOMPARE(textOf("in visit parser.c\n  signal 11\n", 0), std::string("SIGSEGV  prog+0x0"));
    QCOMPARE(textOf("signal 50\n", 0), std::string("signal 50  prog+0x0"));
    QCOMPARE(textOf("gap overwritten\n", 0), std::string("gap: older records were overwritten"));
    QCOMPARE(textOf("in f f.c\n  exception\n", 0), std::string("C++ exception  prog+0x0"));
    QCOMPARE(textOf("in f f.c\n  exception std::bad_alloc\n", 0),
             std::string("C++ exception std::bad_alloc  prog+0x0"));
    QCOMPARE(textOf("sync 12\n", 0), std::string("waits for files or connections"));
    QCOMPARE(textOf("sync 99\n", 0), std::string("sync"));
    QCOMPARE(textOf("call _ZN1a5visitEi a.cpp\n", 0), std::string("call a::visit(int)"));
  }

  void everyKindHasAName() {
    QCOMPARE(kindName(EntryKind::Line), std::string_view("line"));
    QCOMPARE(kindName(EntryKind::Gap), std::string_view("gap"));
    QCOMPARE(signalName(6), std::string("SIGABRT"));
    QCOMPARE(signalName(31), std::string("SIGSYS"));
    QCOMPARE(signalName(0), std::string("signal 0"));
    QVERIFY(!gapText(4'000'000'000u).empty());
  }

  void jsonHasAllKeysInOrder() {
    auto trace = traceOf("call _ZN1a5visitEi a.cpp\n  42 fault\n");
    trace->clockStart = {{10}, {1000}};
    trace->clockEnd = {{20}, {2000}};
    QCOMPARE(
        jsonOf(*trace, 1),
        std::string(R"-({"thread":1,"index":1,"kind":"line","module":"prog","function":"a::visit(int)",)-"
                    R"("mangled":"_ZN1a5visitEi","file":"/src/a.cpp","line":42,"depth":0,"address":"0x10a8",)"
                    R"("time":null,"flags":["fault"]})"));
    trace = traceOf("time 15\nin f f.c\n  1\n");
    trace->clockStart = {{10}, {1000}};
    trace->clockEnd = {{20}, {2000}};
    QVERIFY(jsonOf(*trace, 0).contains("\"time\":1500}"));
  }

  void jsonSaysNullForWhatIsNotKnown() {
    const auto trace = traceOf("gap damaged\nsignal 9\n");
    Entry entry = trace->threads[0]->entry(0);
    entry.module = {};
    QCOMPARE(
        entryJson(*trace, ThreadIndex{2}, 7, entry),
        std::string(R"({"thread":3,"index":7,"kind":"gap","module":null,"function":null,"mangled":null,)"
                    R"("file":null,"line":null,"depth":0,"address":null,"time":null,"cause":"damaged"})"));
    QVERIFY(jsonOf(*trace, 1).ends_with(R"("signal":"SIGKILL"})"));
    const auto threw = traceOf("exception\nexception std::bad_alloc\n");
    QVERIFY(jsonOf(*threw, 0).ends_with(R"("type":null})"));
    QVERIFY(jsonOf(*threw, 1).ends_with(R"("type":"std::bad_alloc"})"));
  }

  void whatAnExceptionSaidIsBehindItsType() {
    const auto threw = traceOf("in f f.c\n  time 5\n  exception\n  time 6\n  exception shop::Empty\n");
    threw->thrownTexts = {{5, "no room"}, {6, "nothing \x1b"}};
    QCOMPARE(entryText(*threw, threw->threads[0]->entry(0)), std::string("C++ exception: no room  prog+0x0"));
    QCOMPARE(entryText(*threw, threw->threads[0]->entry(1)),
             std::string("C++ exception shop::Empty: nothing \xEF\xBF\xBD  prog+0x0"));
    QVERIFY(jsonOf(*threw, 0).ends_with(R"("type":null,"message":"no room"})"));
    QVERIFY(jsonOf(*threw, 1).ends_with("\"type\":\"shop::Empty\",\"message\":\"nothing \\u001b\"}"));
  }

  void jsonIsReadBackWhateverTheNamesHold() {
    const auto trace = traceOf("in f f.c\n  1\n");
    const QByteArray nasty("a\"b\\c\n\t\x01\x7f\xff\xc0\x80 \xed\xa0\x80 \xf0\x9f\x98\x80 \xe2\x82");
    trace->functions[0].name = nasty.toStdString();
    trace->files[0].path = nasty.toStdString();
    trace->modules[0].name = nasty.toStdString();
    const std::string json = jsonOf(*trace, 0);
    QVERIFY(QString::fromStdString(json).isValidUtf16());
    QVERIFY(!json.contains('\n'));
    QJsonParseError error;
    const auto object = QJsonDocument::fromJson(QByteArray::fromStdString(json), &error).object();
    QCOMPARE(error.error, QJsonParseError::NoError);
    QVERIFY(object["file"].toString().startsWith("a\"b\\c\n\t"));
    QVERIFY(object["file"].toString().contains(QString::fromUtf8("\xf0\x9f\x98\x80")));
    QCOMPARE(object["line"].toInt(), 1);
  }

  void textHasNoControlCharactersWhateverTheNamesHold() {
    const auto trace = traceOf("in f f.c\n  1\n");
    trace->functions[0].name = "\x1b[2Jevil\n\xff";
    QCOMPARE(entryText(*trace, trace->threads[0]->entry(0)),
             std::string("f.c:1  \xEF\xBF\xBD[2Jevil\xEF\xBF\xBD\xEF\xBF\xBD"));
  }

  void illFormedUtf8IsReplacedByteByByte_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("text");
    QTest::newRow("plain") << QByteArray("abc") << "abc";
    QTest::newRow("two bytes") << QByteArray("\xc3\xa4") << QString(QChar(0xE4));
    QTest::newRow("truncated") << QByteArray("\xe2\x82") << QString(2, QChar(0xFFFD));
    QTest::newRow("overlong") << QByteArray("\xc0\xaf") << QString(2, QChar(0xFFFD));
    QTest::newRow("surrogate") << QByteArray("\xed\xa0\x80") << QString(3, QChar(0xFFFD));
    QTest::newRow("too large") << QByteArray("\xf4\x90\x80\x80") << QString(4, QChar(0xFFFD));
    QTest::newRow("stray") << QByteArray("a\x80z") << QString("a") + QChar(0xFFFD) + "z";
    QTest::newRow("right to left override") << QByteArray("\xe2\x80\xae") << QString(QChar(0xFFFD));
  }
  void illFormedUtf8IsReplacedByteByByte() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(printable(bytes.toStdString())), text);
  }

  void namesAreDemangled() {
    QCOMPARE(demangle("_ZNSt6vectorIiSaIiEE9push_backERKi"),
             std::string("std::vector<int, std::allocator<int> >::push_back(int const&)"));
    QCOMPARE(demangle("_Z3foov@@V1"), std::string("foo()@@V1"));
    QCOMPARE(demangle("_Z3foov.cold"), std::string("foo() [clone .cold]"));
    QCOMPARE(demangle("main"), std::string("main"));
    QCOMPARE(demangle("i"), std::string("i"));  // not the type int
    QCOMPARE(demangle("_Z"), std::string("_Z"));
    QCOMPARE(demangle(""), std::string());
    const std::string hostile = "_Z1f" + std::string(100'000, 'P') + "i";
    QCOMPARE(demangle(hostile), hostile);
    demangle("_Z1f" + std::string(16'000, 'P') + "i");
  }

  void namesOfTypesAreDemangled() {
    QCOMPARE(demangleType("_ZSt6vectorIiSaIiEE"), std::string("std::vector<int, std::allocator<int> >"));
    QCOMPARE(demangleType("_ZZ4mainE3Own"), std::string("main::Own"));
    QCOMPARE(demangleType("_ZPKc"), std::string("char const*"));
    QCOMPARE(demangleType("shop::Empty"), std::string("shop::Empty"));
    QCOMPARE(demangleType("i"), std::string("i"));  // a class of that name
    QCOMPARE(demangleType("_Z"), std::string("_Z"));
    const std::string hostile = "_Z" + std::string(100'000, 'P') + "i";
    QCOMPARE(demangleType(hostile), hostile);
  }

  void namelessFunctionsAreCalledByTheirAddress() {
    const auto trace = traceOf("in f f.c\n  1\n");
    trace->functions[0].name.clear();
    QCOMPARE(functionText(*trace, FunctionId{0}), std::string("0x1000"));
    QCOMPARE(functionText(*trace, FunctionId{}), std::string("?"));
  }
};

QTEST_APPLESS_MAIN(TextFormatTest)
#include "tst_text_format.moc"
