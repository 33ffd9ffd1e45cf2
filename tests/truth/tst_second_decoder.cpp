// Programs and libraries of the distribution, instrumented and read again by the second decoder: nothing of
// the original changed but the entries, and every copy does what its original does.
//
// With TRACEBACK_SOAK also the large ones.
#include <QFileInfo>
#include <QtTest>

#include "tests/truth/product_run.h"

using namespace traceback::truth;

class TestSecondDecoder : public QObject {
  Q_OBJECT

 private slots:
  void theCopiesAreTheOriginals_data();
  void theCopiesAreTheOriginals();
  void stubsAreCalledPast_data();
  void stubsAreCalledPast();
  void whatCanGoesByATable_data();
  void whatCanGoesByATable();
  void aChangedByteIsNoticed_data();
  void aChangedByteIsNoticed();

 private:
  static Attempt<Ended> check(const QString& original, const QString& instrumented,
                              const QStringList& options = {}) {
    return runToEnd(TRUTH_SECOND_DECODER, options + QStringList{original, instrumented},
                    QProcessEnvironment::systemEnvironment(), 200000);
  }
};

void TestSecondDecoder::theCopiesAreTheOriginals_data() {
  QTest::addColumn<QString>("file");
  QStringList files = {"/usr/bin/lua5.4",
                       "/usr/bin/gzip",
                       "/usr/bin/sqlite3",
                       "/usr/lib/x86_64-linux-gnu/libz.so.1",
                       "/usr/lib/x86_64-linux-gnu/libjq.so.1",
                       "/usr/lib/x86_64-linux-gnu/libxml2.so.2",
                       "/usr/lib/x86_64-linux-gnu/libzstd.so.1"};
  if (qEnvironmentVariableIsSet("TRACEBACK_SOAK"))
    files += {"/usr/bin/gawk", "/usr/bin/perl", "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
              "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libcapstone.so.5"};
  for (const char* const program :
       {"known/unusual", "known/vector_onward", "known/jump_tables", "known/jump_tables_nopie",
        "computed_goto-O2", "kept_frame-O2", "vector_across-O2", "vector_apart-O2", "vector_passed-O2",
        "vector_unseen-O2", "registers_across-O2", "registers_kept-O2", "own_slots_lazy-O2",
        "own_slots_now-O2", "own_throws_lazy-O2"})
    files += QString(TRUTH_PROGRAM_DIR "/") + program;
  for (const QString& file : files)
    if (QFileInfo::exists(file))
      QTest::newRow(qPrintable(QFileInfo(file).fileName())) << QFileInfo(file).canonicalFilePath();
}

void TestSecondDecoder::theCopiesAreTheOriginals() {
  QFETCH(QString, file);
  for (const QStringList& options : {QStringList{"--null"}, QStringList{"--poison"}, QStringList{}}) {
    const auto run = ProductRun::prepare(file, options);
    QVERIFY2(run, run ? "" : qPrintable(run.error()));
    const bool poisoned = options.contains("--poison");
    const auto checked = check(file, (*run)->program(), poisoned ? QStringList{"--poison"} : QStringList{});
    QVERIFY2(checked, checked ? "" : qPrintable(checked.error()));
    QVERIFY2(checked->exitCode == 0, checked->output + checked->complaints);
    qInfo("%s", checked->output.trimmed().constData());
    if (!poisoned) continue;
    const auto taken = check(file, (*run)->program());
    QVERIFY2(taken && taken->exitCode == 1, "breakpoints in old code are not to be taken for the original");
  }
}

// Of tables made for endbr64 and others, of calls and of jumps.
void TestSecondDecoder::stubsAreCalledPast_data() {
  QTest::addColumn<QStringList>("flags");
  QTest::newRow("lazily bound") << QStringList{"-Wl,-z,lazy"};
  QTest::newRow("bound at the start") << QStringList{"-Wl,-z,now"};
  QTest::newRow("stubs with endbr64") << QStringList{"-fcf-protection=full", "-Wl,-z,ibtplt", "-Wl,-z,lazy"};
  QTest::newRow("linked where it runs") << QStringList{"-no-pie", "-fno-pie"};
}

void TestSecondDecoder::stubsAreCalledPast() {
  QFETCH(QStringList, flags);
  QTemporaryDir folder;
  const QString source = folder.filePath("called.c"), program = folder.filePath("called");
  QFile file(source);
  QVERIFY(file.open(QFile::WriteOnly));
  file.write(
      "#include <stdlib.h>\n#include <stdio.h>\n"
      "extern int nowhere(int) __attribute__((weak));\n"
      "__attribute__((noinline)) int jumped(const char* text) { return puts(text); }\n"
      "int main(int argc, char** argv) {\n"
      "  if (nowhere) nowhere(argc);\n"
      "  return jumped(argv[1]) < 0 || abs(atoi(argv[2])) != 5;\n"
      "}\n");
  file.close();
  const auto built = runToEnd("gcc", QStringList{"-O2", "-fno-builtin", source, "-o", program} + flags,
                              QProcessEnvironment::systemEnvironment());
  QVERIFY2(built && built->exitCode == 0, built ? built->complaints.constData() : qPrintable(built.error()));
  for (const QStringList& options : {QStringList{}, QStringList{"--without", "called-slots"}}) {
    const auto run = ProductRun::prepare(program, options);
    QVERIFY2(run, run ? "" : qPrintable(run.error()));
    const auto checked = check(program, (*run)->program());
    QVERIFY2(checked && checked->exitCode == 0, checked ? checked->output.constData() : "");
    const int past = QRegularExpression("(\\d+) calls past stubs").match(checked->output).captured(1).toInt();
    QVERIFY2(options.isEmpty() ? past >= 3 : past == 0, checked->output);
    const auto ended = runToEnd((*run)->program(), {"printed", "-5"}, (*run)->environment());
    QVERIFY2(ended, ended ? "" : qPrintable(ended.error()));
    QCOMPARE(ended->output, "printed\n");
    QCOMPARE(ended->exitCode, 0);
  }
}

void TestSecondDecoder::whatCanGoesByATable_data() {
  QTest::addColumn<QString>("program");
  QTest::addColumn<QStringList>("options");
  QTest::addColumn<QString>("count");
  // Not through a table that is written, nor where the register is looked at in front of the jump. What a
  // table does not have is looked up still.
  QTest::newRow("beside its code") << "known/jump_tables" << QStringList{}
                                   << ", 10 jumps through tables, 12 lookups, ";
  QTest::newRow("where it was linked")
      << "known/jump_tables_nopie" << QStringList{} << ", 13 jumps through tables, 14 lookups, ";
  QTest::newRow("none if so wished") << "known/jump_tables" << QStringList{"--without", "jump-tables"}
                                     << ", 0 jumps through tables, 13 lookups, ";
}

void TestSecondDecoder::whatCanGoesByATable() {
  QFETCH(QString, program);
  QFETCH(QStringList, options);
  QFETCH(QString, count);
  const QString original = TRUTH_PROGRAM_DIR "/" + program;
  const auto run = ProductRun::prepare(original, options);
  QVERIFY2(run, run ? "" : qPrintable(run.error()));
  const auto checked = check(original, (*run)->program());
  QVERIFY2(checked, checked ? "" : qPrintable(checked.error()));
  QVERIFY2(checked->exitCode == 0 && checked->output.contains(count.toUtf8()),
           checked->output + checked->complaints);
}

// That the checker can fail: bytes are changed, one at a time. Of the copies it may miss those between them
// and those of the lookups that stand for indirect jumps, which it checks in part only; of the unwind tables,
// padding.
void TestSecondDecoder::aChangedByteIsNoticed_data() {
  QTest::addColumn<QString>("program");
  QTest::addColumn<QString>("section");
  // In quarters of the section: the copies follow the module's tables, their unwind entries the original's.
  QTest::addColumn<int>("from");
  QTest::addColumn<int>("to");
  QTest::addColumn<int>("step");
  QTest::newRow("code") << "switches-O2" << ".traceback.text" << 1 << 2 << 17;
  QTest::newRow("lookup tables") << "switches-O2" << ".traceback.tables" << 0 << 4 << 1;
  QTest::newRow("jumps through tables") << "known/jump_tables" << ".traceback.text" << 1 << 3 << 3;
  QTest::newRow("tables") << "known/jump_tables" << ".traceback.tables" << 0 << 4 << 1;
  QTest::newRow("jumps by addresses") << "known/jump_tables_nopie" << ".traceback.text" << 2 << 4 << 3;
  QTest::newRow("addresses") << "known/jump_tables_nopie" << ".traceback.tables" << 2 << 4 << 1;
  QTest::newRow("unwind entries") << "exceptions-O0" << ".eh_frame" << 3 << 4 << 11;
  QTest::newRow("unwind entries of the original") << "exceptions-O0" << ".eh_frame" << 0 << 1 << 13;
  QTest::newRow("unwind search table") << "exceptions-O0" << ".eh_frame_hdr" << 0 << 4 << 23;
  QTest::newRow("exception tables") << "exceptions-O0" << ".gcc_except_table" << 0 << 4 << 7;
  QTest::newRow("original code") << "switches-O2" << ".text" << 1 << 3 << 29;
  QTest::newRow("unusual code") << "known/unusual" << ".traceback.text" << 1 << 2 << 17;
  QTest::newRow("notes that moved") << "known/unusual" << ".note.gnu.build-id" << 0 << 4 << 3;
  QTest::newRow("original data") << "switches-O2" << ".rodata" << 0 << 4 << 29;
}

void TestSecondDecoder::aChangedByteIsNoticed() {
  QFETCH(QString, program);
  QFETCH(QString, section);
  QFETCH(int, from);
  QFETCH(int, to);
  QFETCH(int, step);
  const QString original = TRUTH_PROGRAM_DIR "/" + program;
  const auto run = ProductRun::prepare(original);
  QVERIFY2(run, run ? "" : qPrintable(run.error()));
  QFile file((*run)->program());
  QVERIFY(file.open(QFile::ReadOnly));
  const QByteArray good = file.readAll();
  file.close();
  const auto sections =
      runToEnd("readelf", {"-SW", (*run)->program()}, QProcessEnvironment::systemEnvironment());
  QVERIFY2(sections, sections ? "" : qPrintable(sections.error()));
  const auto found = QRegularExpression(" " + QRegularExpression::escape(section) +
                                        "\\s+(?:PROGBITS|NOTE)\\s+([0-9a-f]+)\\s+([0-9a-f]+)\\s+([0-9a-f]+)")
                         .match(QString::fromUtf8(sections->output));
  QVERIFY(found.hasMatch());
  const qsizetype offset = found.captured(2).toLongLong(nullptr, 16),
                  size = found.captured(3).toLongLong(nullptr, 16);
  int noticed = 0, tried = 0;
  QStringList missed;
  for (qsizetype at = offset + size / 4 * from; at < offset + size / 4 * to; at += step) {
    QByteArray bad = good;
    bad[at] = char(bad[at] ^ 0x11);
    QFile out((*run)->file("bad"));
    QVERIFY(out.open(QFile::WriteOnly) && out.write(bad) == bad.size());
    out.close();
    const auto checked = check(original, out.fileName());
    QVERIFY2(checked, checked ? "" : qPrintable(checked.error()));
    QCOMPARE(checked->signal, 0);
    ++tried;
    noticed += checked->exitCode != 0;
    if (checked->exitCode == 0) missed += QString::number(at - offset, 16);
  }
  qInfo("%d of %d changed bytes noticed, not those at %s", noticed, tried, qPrintable(missed.join(' ')));
  QVERIFY(tried > 10);
  QVERIFY(noticed * 10 >= tried * 9);
}

QTEST_GUILESS_MAIN(TestSecondDecoder)
#include "tst_second_decoder.moc"
