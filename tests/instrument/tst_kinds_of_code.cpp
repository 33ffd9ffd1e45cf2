// Programs of every kind that compilers and languages make: each does the same instrumented, poisoned (so
// that it cannot have fallen back on its original code unseen), by a profile that says that nothing ever ran,
// and as it was.
#include <QDir>
#include <QProcess>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>
#include <array>

#include "instrument/instrument.h"
#include "instrument/plan.h"
#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"
#include "tests/instrument/compiled.h"

using namespace traceback;
using instrument::instrumentFile;

namespace {

struct Ended {
  QProcess::ExitStatus status = QProcess::CrashExit;
  int code = -1;
  QByteArray out, err;
  bool operator==(const Ended&) const = default;
};

}  // namespace

class TestKindsOfCode : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;
  QString path(const QString& name) const { return m_folder.filePath(name); }

  Ended run(const QString& program, bool traced) const {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("LD_LIBRARY_PATH", m_folder.path());
    environment.insert("XDG_RUNTIME_DIR", path("run"));
    if (traced) environment.insert("LD_PRELOAD", RUNTIME);
    process.setProcessEnvironment(environment);
    process.start(program, QStringList());
    if (!process.waitForFinished(60'000)) return {};
    return {process.exitStatus(), process.exitCode(), process.readAllStandardOutput(),
            process.readAllStandardError()};
  }

  // As usual, poisoned, and by a profile that says that nothing ran.
  std::array<instrument::Options, 3> formsOf(const QString& program) const {
    std::array<instrument::Options, 3> forms;
    forms[1].poison = true;
    const auto file = loader::MappedFile::open(program.toStdString());
    const auto image = loader::ElfImage::parse(file->bytes(), program.toStdString());
    QFile profile(path("nothing.tbprofile"));
    if (!profile.open(QIODevice::WriteOnly) || image->buildId().empty()) qFatal("no profile of it");
    profile.write("traceback-profile 2\nmodule " + QByteArray::fromStdString(image->buildId()) +
                  "\n0 0 0 0 0\n");
    profile.close();
    if (!instrument::useProfile(forms[2], profile.fileName().toStdString())) qFatal("a wrong profile");
    return forms;
  }

  void sameAsBefore(const QString& program) const {
    const Ended plain = run(program, false);
    QCOMPARE(plain.status, QProcess::NormalExit);
    QVERIFY(plain.out.size() > 100);
    QCOMPARE(run(program, true), plain);  // the runtime alone
    for (const instrument::Options& options : formsOf(program)) {
      const auto report = instrumentFile(program.toStdString(), path("ours").toStdString(), options);
      QVERIFY2(report, report ? "" : report.error().text().c_str());
      // What is left alone is left for reasons that this code gives.
      std::uint64_t left = report->functions - report->instrumented;
      for (const auto& [reason, count] : report->skipped)
        if (reason == "startup code" || reason == "symbol resolver" || reason == "split stack" ||
            reason == "made to be patched while running")
          left -= count;
      QVERIFY2(left <= 4, qPrintable(QString::number(left)));
      const Ended ours = run(path("ours"), true);
      QCOMPARE(ours.out, plain.out);
      QCOMPARE(ours.err, plain.err);
      QCOMPARE(ours.status, plain.status);
      QCOMPARE(ours.code, plain.code);
    }
  }

 private slots:
  void initTestCase() { QVERIFY(QDir(m_folder.path()).mkpath("run")); }

  void compiledProgramDoesTheSame_data() {
    QTest::addColumn<QString>("compiler");
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("flags");
    const auto row = [](const char* compiler, const char* source, const char* flags) {
      QTest::addRow("%s %s %s", compiler, source, flags) << compiler << source << flags;
    };
    for (const char* flags :
         {"-O0", "-O1 -fno-pie -no-pie", "-O2", "-O3 -march=x86-64-v3", "-Os -fno-pie -no-pie",
          "-O2 -fcf-protection=full", "-O2 -mno-red-zone -fstack-clash-protection",
          "-O2 -mindirect-branch=thunk -mfunction-return=thunk", "-O2 -fno-plt -fno-jump-tables",
          "-O3 -flto -fno-semantic-interposition", "-O2 -fipa-ra -freorder-blocks-and-partition",
          "-O2 -fpatchable-function-entry=3", "-O2 -Wl,-z,pack-relative-relocs", "-O2 -mcmodel=medium",
          "-O2 -fsplit-stack", "-O2 -Wl,-z,separate-code -s"})
      row("gcc", "mixed.c", flags);
    for (const char* flags : {"-O0", "-O2", "-O3 -march=x86-64-v3", "-Os -fno-pie -no-pie",
                              "-O2 -fcf-protection=full", "-O2 -mretpoline", "-O2 -fno-plt"})
      row("clang", "mixed.c", flags);
    for (const char* flags : {"-O0", "-O2", "-O3 -fno-pie -no-pie", "-Os -s"})
      row("g++", "throwing.cpp", flags);
    for (const char* flags : {"-O0 -fno-pie -no-pie", "-O2"}) row("clang++", "throwing.cpp", flags);
    for (const char* flags : {"-O0", "-O3"}) row("gfortran", "numbers.f90", flags);
    for (const char* flags : {"-C opt-level=0", "-C opt-level=3"}) row("rustc", "shapes.rs", flags);
  }
  void compiledProgramDoesTheSame() {
    QFETCH(QString, compiler);
    QFETCH(QString, source);
    QFETCH(QString, flags);
    const QString said = tests::build(compiler, {QString(KINDS) + source}, path("plain"), flags.split(' '));
    QCOMPARE(said, QString());
    sameAsBefore(path("plain"));
  }

  // TLS descriptors: the function that finds such a variable changes no register but rax, so arguments stay
  // where they are while it is called.
  void argumentsStayWhileAVariableOfTheThreadIsFound_data() {
    QTest::addColumn<QString>("dialect");
    for (const char* dialect : {"gnu", "gnu2"}) QTest::newRow(dialect) << dialect;
  }
  void argumentsStayWhileAVariableOfTheThreadIsFound() {
    QFETCH(QString, dialect);
    const QString library = path("libthread_local.so"), program = path("plain");
    QString said = tests::build("gcc", {QString(KINDS) + "thread_local.c"}, library,
                                {"-O2", "-fPIC", "-shared", "-mtls-dialect=" + dialect});
    QCOMPARE(said, QString());
    said = tests::build("gcc", {QString(KINDS) + "thread_local_main.c"}, program,
                        {"-O2", "-rdynamic", "-L" + m_folder.path(), "-lthread_local"});
    QCOMPARE(said, QString());
    const Ended plain = run(program, false);
    QCOMPARE(plain.status, QProcess::NormalExit);
    QVERIFY(plain.out.size() > 100);
    const auto report = instrumentFile(library.toStdString(), library.toStdString(), {});
    QVERIFY2(report, report ? "" : report.error().text().c_str());
    QVERIFY(report->instrumented >= 2);
    QCOMPARE(run(program, true), plain);
  }

  // Tables and labels lead from one part of a function into the other.
  void partsThatWereMovedAwayAreKnown_data() {
    QTest::addColumn<QString>("compiler");
    QTest::addColumn<QString>("flags");
    for (const char* flags : {"-O2", "-O2 -fno-pie -no-pie", "-O1 -freorder-blocks-and-partition"})
      QTest::addRow("gcc %s", flags) << "gcc" << flags;
    for (const char* flags : {"-O2", "-O1 -fno-pie -no-pie"})
      QTest::addRow("clang %s", flags) << "clang" << flags;
  }
  void partsThatWereMovedAwayAreKnown() {
    QFETCH(QString, compiler);
    QFETCH(QString, flags);
    const QString said =
        tests::build(compiler, {TRUTH_PROGRAMS "moved_parts.c"}, path("plain"), flags.split(' '));
    QCOMPARE(said, QString());
    if (compiler == "gcc") {
      QFile plain(path("plain"));
      QVERIFY(plain.open(QIODevice::ReadOnly));
      const QByteArray bytes = plain.readAll();
      for (const char* part : {"cases.cold", "backwards.cold", "interpret.cold"})
        QVERIFY2(bytes.contains(part), part);
    }
    sameAsBefore(path("plain"));
  }

  void whatCompilersMovedAwayIsTakenToRunHardlyEver() {
    QCOMPARE(tests::build("gcc", {TRUTH_PROGRAMS "moved_parts.c"}, path("plain"), {"-O2"}), QString());
    const auto file = loader::MappedFile::open(path("plain").toStdString());
    const auto image = loader::ElfImage::parse(file->bytes(), "plain");
    const auto plan = instrument::makePlan(*image, {}, {});
    QVERIFY(plan.has_value());
    QSet<QString> parts;  // but for the one to which labels lead that are named: it may be called
    for (const instrument::Function& f : plan->program.functions)
      if (!f.blocks.empty() && f.isCold()) parts += QString::fromStdString(f.name);
    QCOMPARE(parts, (QSet<QString>{"cases.cold", "backwards.cold"}));
  }

  void rareInstructionsDoTheSame_data() {
    QTest::addColumn<QString>("flags");
    QTest::newRow("position independent") << "-O1";
    QTest::newRow("linked to its place") << "-O1 -fno-pie -no-pie";
  }
  void rareInstructionsDoTheSame() {
    QFETCH(QString, flags);
    const QString said = tests::build("gcc", {QString(KINDS) + "rare_main.c", QString(KINDS) + "rare.S"},
                                      path("plain"), flags.split(' '));
    QCOMPARE(said, QString());
    sameAsBefore(path("plain"));
  }

  // The same code as a library, with the ways to thread-local storage that only libraries have.
  void libraryDoesTheSame_data() {
    QTest::addColumn<QString>("flags");
    for (const char* flags : {"-ftls-model=global-dynamic", "-ftls-model=local-dynamic",
                              "-ftls-model=initial-exec", "-mtls-dialect=gnu2", "-fno-plt -Wl,-z,now"})
      QTest::newRow(flags) << flags;
  }
  void libraryDoesTheSame() {
    QFETCH(QString, flags);
    QCOMPARE(tests::build("gcc", {QString(KINDS) + "mixed.c"}, path("libmixed.so"),
                          QStringList{"-O2", "-fPIC", "-shared", "-Dmain=run"} + flags.split(' ')),
             QString());
    QCOMPARE(tests::compile("gcc", "int run(void); int main(void) { return run(); }", path("main.c"),
                            path("main"), {"-L" + m_folder.path(), "-lmixed"}),
             QString());
    const Ended plain = run(path("main"), false);
    QCOMPARE(plain.status, QProcess::NormalExit);
    QVERIFY(plain.out.contains("late"));
    QVERIFY(QFile::rename(path("libmixed.so"), path("plain.so")));
    for (const instrument::Options& options : formsOf(path("plain.so"))) {
      const auto report =
          instrumentFile(path("plain.so").toStdString(), path("libmixed.so").toStdString(), options);
      QVERIFY2(report, report ? "" : report.error().text().c_str());
      const Ended ours = run(path("main"), true);
      QCOMPARE(ours.out, plain.out);
      QCOMPARE(ours.code, plain.code);
    }
    QFile::remove(path("libmixed.so"));
    QFile::remove(path("plain.so"));
  }
};

QTEST_GUILESS_MAIN(TestKindsOfCode)
#include "tst_kinds_of_code.moc"
