// Behind which calls the ring's cursor is in xmm15 (instrument/flow/cursor_keepers.h).
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "compiled.h"
#include "instrument/plan.h"
#include "loader/mapped_file.h"

using namespace traceback;
using namespace traceback::instrument;

namespace {

QString function(const QString& name, const QString& body) {
  return QString(".type %1, @function\n%1:\n.cfi_startproc\n%2\n.cfi_endproc\n.size %1, . - %1\n")
      .arg(name, body);
}

}  // namespace

class TestCursorKeepers : public QObject {
  Q_OBJECT

 private slots:
  void aCallBringsTheCursorBackOnlyFromCopiesThatKeepItToTheEnd_data();
  void aCallBringsTheCursorBackOnlyFromCopiesThatKeepItToTheEnd();
};

void TestCursorKeepers::aCallBringsTheCursorBackOnlyFromCopiesThatKeepItToTheEnd_data() {
  QTest::addColumn<QString>("callee");
  QTest::addColumn<QString>("others");
  QTest::addColumn<bool>("brings");

  QTest::newRow("that returns") << "movl %edi, %eax\nnop\nnop\nret" << "" << true;
  QTest::newRow("that calls anything first")
      << "subq $8, %rsp\n.cfi_def_cfa_offset 16\ncall *%rdi\naddq $8, %rsp\n.cfi_def_cfa_offset 8\nret" << ""
      << true;
  QTest::newRow("that calls itself")
      << "testl %edi, %edi\nje 1f\ndecl %edi\nsubq $8, %rsp\n.cfi_def_cfa_offset 16\ncall callee\naddq $8, "
         "%rsp\n.cfi_def_cfa_offset 8\n1: ret"
      << "" << true;
  QTest::newRow("that goes on in one that returns")
      << "movl $1, %edi\njmp other" << function("other", "movl %edi, %eax\nnop\nnop\nret") << true;
  QTest::newRow("that goes on there if it likes")
      << "testl %edi, %edi\njne other\nret" << function("other", "movl %edi, %eax\nnop\nnop\nret") << true;
  QTest::newRow("that goes on anywhere") << "movq %rdi, %rax\nnop\njmp *%rax" << "" << false;
  QTest::newRow("that goes on in one that goes on anywhere")
      << "movl $1, %esi\njmp other" << function("other", "movq %rdi, %rax\nnop\njmp *%rax") << false;
  QTest::newRow("that goes on there if it likes to")
      << "testl %edi, %edi\njne other\nret" << function("other", "movq %rdi, %rax\nnop\njmp *%rax") << false;
  QTest::newRow("that goes on by a slot") << "movl $1, %esi\njmp puts@PLT" << "" << false;
  QTest::newRow("that goes by a table")
      << "cmpl $3, %edi\nja 9f\nleaq table(%rip), %rdx\nmovslq (%rdx,%rdi,4), %rax\naddq %rdx, %rax\njmp "
         "*%rax\n"
         "5: nop\n6: nop\n7: nop\n8: nop\n9: ret\n"
         ".section .rodata\ntable: .long 5b-table, 6b-table, 7b-table, 8b-table\n.text"
      << "" << false;
  QTest::newRow("that returns to where it likes")
      << "leaq 1f(%rip), %rax\npushq %rax\n.cfi_adjust_cfa_offset 8\nret\n.cfi_adjust_cfa_offset -8\n1: ret"
      << "" << false;
  QTest::newRow("that has a value of its own there")
      << "pxor %xmm15, %xmm15\nmovups %xmm15, (%rsi)\nret" << "" << false;
}

void TestCursorKeepers::aCallBringsTheCursorBackOnlyFromCopiesThatKeepItToTheEnd() {
  QFETCH(QString, callee);
  QFETCH(QString, others);
  QFETCH(bool, brings);
  QTemporaryDir folder;
  const QString text = ".globl caller\n.text\n" +
                       function("caller",
                                "subq $8, %rsp\n.cfi_def_cfa_offset 16\ncall callee\naddq $8, %rsp\n"
                                ".cfi_def_cfa_offset 8\nret") +
                       function("callee", callee) + others + ".section .note.GNU-stack\n";
  const QString library = folder.filePath("library.so");
  QCOMPARE(tests::compile("gcc", text, folder.filePath("a.s"), library, {"-shared", "-nostdlib"}), QString());
  const auto file = loader::MappedFile::open(library.toStdString());
  QVERIFY(file.has_value());
  const auto image = loader::ElfImage::parse(file->bytes(), library.toStdString());
  QVERIFY(image.has_value());
  const auto plan = makePlan(*image, {}, {});
  QVERIFY(plan.has_value());
  const auto named = [&](const char* name) {
    return std::ranges::find(plan->program.functions, name, &Function::name);
  };
  const auto caller = named("caller"), called = named("callee");
  QVERIFY(caller != plan->program.functions.end() && called != plan->program.functions.end());
  QVERIFY(caller->keepsCursor);
  QCOMPARE(called->skip, format::SkipReason::None);
  const auto call = std::ranges::find(caller->blocks, format::BlockEnd::Call, &Block::kind);
  QVERIFY(call != caller->blocks.end());
  QCOMPARE(call->bringsCursor, brings);
  QCOMPARE(called->bringsCursor, brings);
}

QTEST_APPLESS_MAIN(TestCursorKeepers)
#include "tst_cursor_keepers.moc"
