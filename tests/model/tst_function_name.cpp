#include <QTest>

#include "model/function_name.h"

using namespace traceback::model;

class FunctionNameTest : public QObject {
  Q_OBJECT

 private slots:
  void namesAreShortenedStepByStep_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("shortened");
    QTest::addColumn<QString>("unscoped");
    const auto row = [](const char* name, const char* shortened, const char* unscoped) {
      QTest::newRow(name) << QString::fromUtf8(name) << QString::fromUtf8(shortened)
                          << QString::fromUtf8(unscoped);
    };
    row("main", "main", "main");
    row("visit(Node const*)", "visit", "visit");
    row("a::b::c(int, std::vector<int> const&)", "a::b::c", "c");
    row("void swap<int>(int&, int&)", "swap<int>", "swap<int>");
    row("std::vector<std::string, std::allocator<std::string> >::~vector()", "std::vector<\u2026>::~vector",
        "~vector");
    row("std::function<void (int)>::operator()(int) const", "std::function<void (int)>::operator()",
        "operator()");
    row("(anonymous namespace)::helper(int)", "(anonymous namespace)::helper", "helper");
    row("A::operator<(A const&) const", "A::operator<", "operator<");
    row("std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> >(int)",
        "std::operator<< <std::char_traits<char> >", "operator<< <std::char_traits<char> >");
    row("cooperator(int)", "cooperator", "cooperator");
    row("0x46840", "0x46840", "0x46840");
    row("", "", "");
  }
  void namesAreShortenedStepByStep() {
    QFETCH(QString, name);
    QFETCH(QString, shortened);
    QFETCH(QString, unscoped);
    const std::string whole = name.toStdString();
    QCOMPARE(QString::fromStdString(shortFunctionName(whole)), shortened);
    QCOMPARE(QString::fromStdString(std::string(unscopedFunctionName(whole))), unscoped);
  }
};

QTEST_APPLESS_MAIN(FunctionNameTest)
#include "tst_function_name.moc"
