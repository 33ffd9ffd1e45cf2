// Which files are left alone as a whole, and which functions because of what is said about them elsewhere.
#include <elf.h>

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <cstring>

#include "instrument/instrument.h"
#include "tests/instrument/compiled.h"

using namespace traceback;
using instrument::instrumentFile;

namespace {

constexpr char kMain[] = "int main(void) { return 0; }\n";
constexpr char kLibrary[] = "int f(int a) { return a < 7 ? a : 3 * a; }\n";

// A hundred calls, and a table of where they return to, as OCaml's runtime has it.
constexpr char kReturnTable[] = R"(
  .text
  .globl f
  .type f, @function
f: .cfi_startproc
  ret
  .cfi_endproc
  .globl many
  .type many, @function
many: .cfi_startproc
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  .set number, 0
  .rept 100
  call f
  .pushsection .data
  .quad 1f
  .popsection
1: nop
  .endr
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  .section .note.GNU-stack,"",@progbits
)";

// Reads it; has written over it; and uses the room below the stack without a call.
constexpr char kReadsReturnAddress[] = R"(
  .macro begin name
  .globl \name
  .type \name, @function
\name: .cfi_startproc
  .endm
  .text
  begin reads
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call leaf
  mov %rsp, %rcx
  mov -8(%rsp), %rdx
  lea -15(%rip), %rsi
  cmp %rsi, %rdx
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  begin writes
  sub $8, %rsp
  .cfi_adjust_cfa_offset 8
  call leaf
  mov %rax, -8(%rsp)
  mov -8(%rsp), %rdx
  add $8, %rsp
  .cfi_adjust_cfa_offset -8
  ret
  .cfi_endproc
  begin leaf
  mov %rdi, -8(%rsp)
  mov -8(%rsp), %rax
  lea -16(%rsp), %rcx
  ret
  .cfi_endproc
  .section .note.GNU-stack,"",@progbits
)";

// Its own assembler's mov rbp, rsp, and that of others.
constexpr char kMachineEntry[] = R"(
  .text
  .globl enter
  .type enter, @function
enter: .cfi_startproc
  push %rbp
  .byte 0x48, 0x8b, 0xec
  push $2
  sub $8, %rsp
  call other
  add $16, %rsp
  pop %rbp
  ret
  .cfi_endproc
  .globl other
  .type other, @function
other: .cfi_startproc
  push %rbp
  mov %rsp, %rbp
  push $2
  pop %rax
  pop %rbp
  ret
  .cfi_endproc
)";

constexpr char kRestartable[] = R"(
  .text
  .globl sequence
  .type sequence, @function
sequence: .cfi_startproc
  mov $1, %eax
start:
  mov %edi, %ecx
  mov %ecx, %edx
end:
  ret
  .byte 0x0f, 0xb9, 0x3d
  .long 0x53053053
abort:
  jmp start
  .cfi_endproc
  .globl other
  .type other, @function
other: .cfi_startproc
  mov $2, %eax
  mov $3, %ecx
  ret
  .cfi_endproc
  .data
  .balign 32
  .long 0, 0
  .quad start, end - start, abort
  .section .note.GNU-stack,"",@progbits
)";

}  // namespace

class TestEligibility : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  QString path(const QString& name) const { return m_folder.filePath(name); }

  model::Result<instrument::Report> instrumented(const QString& file) const {
    return instrumentFile(file.toStdString(), path("output").toStdString(), {});
  }

  QString build(const QString& name, const QString& source, const QStringList& flags,
                const char* suffix = ".c") const {
    return tests::compile("gcc", source, path(name + suffix), path(name), flags);
  }

  void refused(const QString& file, const char* reason) const {
    const auto report = instrumented(file);
    QVERIFY2(!report, "was instrumented");
    QVERIFY2(report.error().text().contains(reason), report.error().text().c_str());
    QVERIFY(!QFile::exists(path("output")));
  }

 private slots:
  void fileIsRefusedForWhatItIs_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QStringList>("flags");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char* name, const QString& source, const QStringList& flags,
                        const char* reason) { QTest::newRow(name) << source << flags << reason; };
    const QStringList shared{"-shared", "-fPIC", "-O1"};
    row("object file", kMain, {"-c"}, "object file");
    row("static", kMain, {"-static"}, "statically linked");
    row("static-pie", kMain, {"-static-pie"}, "statically linked");
    row("dynamic loader", kLibrary, shared + QStringList{"-Wl,-soname,ld-linux-x86-64.so.2"}, "loader");
    row("vDSO", kLibrary, shared + QStringList{"-Wl,-soname,linux-vdso.so.1"}, "vDSO");
    row("the recorder", kLibrary, shared + QStringList{"-Wl,-soname,libtraceback.so"}, "recorder");
    row("text relocations", "int v; __attribute__((naked)) void f(void) { asm(\"movabs $v, %rax; ret\"); }",
        shared + QStringList{"-Wl,-z,notext"}, "text relocations");
    row("writable code", kLibrary, shared + QStringList{"-nostdlib", "-Wl,--omagic"}, "writable code");
    row("Go, by its note",
        QString(kMain) +
            "__attribute__((section(\".note.x, \\\"a\\\", @note #\"))) const struct { int a[3];"
            " char b[12]; } note = {{4, 8, 4}, \"Go\\0\\0idididi\"};",
        {}, "Go program");
    row("Go, by its build information",
        QString(kMain) + "__attribute__((aligned(16))) char info[32] = \"\\xff Go buildinf:\";", {},
        "Go program");
    row("OCaml, by a symbol", QString(kMain) + "long caml_frametable[] = {1};", {}, "OCaml");
    row("Haskell, by a symbol", QString(kMain) + "long stg_upd_frame_info[] = {1};", {}, "Haskell");
    row("thread-local storage where the thread slot is", QString(kMain) + "__thread char much[5000];", {},
        "thread-local storage");
    row("FIPS provider",
        "const char* name(void) { return \"OpenSSL FIPS Provider\"; } int OSSL_provider_init;", shared,
        "checks its own bytes");
    row("digest in a note",
        QString(kLibrary) +
            "__attribute__((section(\".note.y, \\\"a\\\", @note #\"))) const struct { "
            "unsigned a[3]; char b[12]; } note = {{4, 8, 0xcafe2a8e}, \"FDO\\0abcdefg\"};",
        shared, "checks its own bytes");
  }
  void fileIsRefusedForWhatItIs() {
    QFETCH(QString, source);
    QFETCH(QStringList, flags);
    QFETCH(QString, reason);
    QCOMPARE(build("file", source, flags), QString());
    refused(path("file"), qPrintable(reason));
  }

  void programWithTheSameNamesButOtherwiseIsTaken() {
    QCOMPARE(
        build("plain", QString(kMain) + "char info[32] = \"Go buildinf\"; extern long caml_frametable;", {}),
        QString());
    const auto report = instrumented(path("plain"));
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QFile::remove(path("output"));
  }

  void threadStorageThatLeavesTheSlotFreeIsTaken_data() {
    QTest::addColumn<QString>("source");
    QTest::addColumn<QStringList>("flags");
    QTest::newRow("a program's, small") << QString(kMain) + "__thread char some[4000];" << QStringList{};
    QTest::newRow("a library's, which lies elsewhere")
        << QString(kLibrary) + "__thread char much[5000];" << QStringList{"-shared", "-fPIC"};
  }
  void threadStorageThatLeavesTheSlotFreeIsTaken() {
    QFETCH(QString, source);
    QFETCH(QStringList, flags);
    QCOMPARE(build("storage", source, flags), QString());
    const auto report = instrumented(path("storage"));
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QFile::remove(path("output"));
  }

  void libraryWithADigestBesideItIsRefused_data() {
    QTest::addColumn<QString>("beside");
    for (const char* beside : {".libx.so.1.hmac", "libx.so.1.hmac", "libx.so.chk"})
      QTest::newRow(beside) << beside;
  }
  void libraryWithADigestBesideItIsRefused() {
    QFETCH(QString, beside);
    QCOMPARE(build("libx.so.1", kLibrary, {"-shared", "-fPIC"}), QString());
    QVERIFY(instrumented(path("libx.so.1")));
    QFile::remove(path("output"));
    QFile digest(path(beside));
    QVERIFY(digest.open(QIODevice::WriteOnly));
    refused(path("libx.so.1"), "checks its own bytes");
    QVERIFY(digest.remove());
  }

  void coreFileIsRefused() {
    QCOMPARE(build("core", kMain, {}), QString());
    QFile file(path("core"));
    QVERIFY(file.open(QIODevice::ReadWrite) && file.seek(16));
    file.write("\4", 1);
    file.close();
    refused(path("core"), "core file");
  }

  // The table is found where the linker relocates it, and where it has the addresses in it.
  void tableOfReturnAddressesIsSeenWithoutNames_data() {
    QTest::addColumn<QStringList>("flags");
    QTest::newRow("library") << QStringList{"-shared"};
    QTest::newRow("packed relocations") << QStringList{"-shared", "-Wl,-z,pack-relative-relocs"};
    QTest::newRow("linked to its place")
        << QStringList{"-no-pie", "-nostartfiles", "-Wl,-e,f", "-Wl,--no-as-needed"};
  }
  void tableOfReturnAddressesIsSeenWithoutNames() {
    QFETCH(QStringList, flags);
    QCOMPARE(build("returns", kReturnTable, flags + QStringList{"-s"}, ".s"), QString());
    refused(path("returns"), "calls return to");
  }

  void codeWithoutUnwindTablesIsNotWorthIt() {
    QString source = kLibrary;
    source += "asm(\".text; .globl big; big: .fill 100000, 1, 0x90; ret\");";
    QCOMPARE(build("bare", source, {"-shared", "-fPIC"}), QString());
    refused(path("bare"), "no unwind tables");
  }

  void restartableSequenceIsLeftAlone() {
    for (const QString flags : {"-shared", "-shared -Wl,-z,pack-relative-relocs"}) {
      QCOMPARE(build("rseq", kRestartable, flags.split(' '), ".s"), QString());
      const auto report = instrumented(path("rseq"));
      QVERIFY2(report, report ? "" : report.error().text().c_str());
      QCOMPARE(report->skipped.at("restartable sequence"), 1u);
      QVERIFY(report->instrumented >= 1);
    }
  }

  // V8 looks for the return addresses of its own frames in its builtins, and their entries are among these.
  void entryIntoAVirtualMachineIsLeftAlone() {
    QCOMPARE(build("machine", kMachineEntry, {"-shared"}, ".s"), QString());
    const auto report = instrumented(path("machine"));
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QCOMPARE(report->skipped.at("entry of a virtual machine"), 1u);
    QCOMPARE(report->instrumented, 1u);
  }

  void functionMadeToBePatchedIsLeftAlone() {
    QCOMPARE(build("patchable",
                   QString(kLibrary) + "__attribute__((patchable_function_entry(5, 2))) int g(int a) "
                                       "{ return a * a + 1; }",
                   {"-shared", "-fPIC", "-O1"}),
             QString());
    const auto report = instrumented(path("patchable"));
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QCOMPARE(report->skipped.at("made to be patched while running"), 1u);
  }

  // Below the stack pointer stands where the callee has returned to, which is another address in a copy.
  void functionThatReadsWhereACallReturnedToIsLeftAlone() {
    QCOMPARE(build("returned", kReadsReturnAddress, {"-shared"}, ".s"), QString());
    const auto report = instrumented(path("returned"));
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QCOMPARE(report->skipped.at("instruction that cannot be moved"), 1u);
    QCOMPARE(report->instrumented, 2u);
  }

  // GCL's programs: their heap goes on behind what they have written.
  void imageOfAProcessIsRefused() {
    QCOMPARE(build("dumped", QString(kMain) + "char much[100000];", {"-no-pie"}), QString());
    QVERIFY(instrumented(path("dumped")));
    QFile::remove(path("output"));
    QFile file(path("dumped"));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QByteArray bytes = file.readAll();
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes.constData());
    auto* sections = reinterpret_cast<Elf64_Shdr*>(bytes.data() + header->e_shoff);
    const char* names = bytes.constData() + sections[header->e_shstrndx].sh_offset;
    for (int i = 0; i < header->e_shnum; ++i)
      if (std::strcmp(names + sections[i].sh_name, ".bss") == 0) sections[i].sh_size = 0;
    QVERIFY(file.seek(0) && file.write(bytes) == bytes.size());
    file.close();
    refused(path("dumped"), "the image of a process");
  }

  void splitStackIsLeftAlone() {
    QCOMPARE(build("split",
                   "#include <stdio.h>\n__attribute__((noinline)) int deep(int n) { char b[3000]; "
                   "snprintf(b, sizeof b, \"%d\", n); return n == 0 ? b[0] : deep(n - 1) + b[0]; }\n"
                   "int main(void) { printf(\"%d\\n\", deep(1000)); return 0; }",
                   {"-fsplit-stack", "-O1"}),
             QString());
    const auto report = instrumented(path("split"));
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QVERIFY(report->skipped.at("split stack") >= 2);
  }
};

QTEST_GUILESS_MAIN(TestEligibility)
#include "tst_eligibility.moc"
