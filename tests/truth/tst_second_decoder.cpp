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
  void aChangedByteIsNoticed();

 private:
  static Attempt<Ended> check(const QString& original, const QString& instrumented) {
    return runToEnd(TRUTH_SECOND_DECODER, {original, instrumented}, QProcessEnvironment::systemEnvironment(),
                    200000);
  }
};

void TestSecondDecoder::theCopiesAreTheOriginals_data() {
  QTest::addColumn<QString>("file");
  QStringList files = {"/usr/bin/lua5.4",
                       "/usr/bin/gzip",
                       "/usr/bin/sqlite3",
                       "/usr/lib/x86_64-linux-gnu/libz.so.1",
                       "/usr/lib/x86_64-linux-gnu/libjq.so.1",
                       "/usr/lib/x86_64-linux-gnu/libzstd.so.1"};
  if (qEnvironmentVariableIsSet("TRACEBACK_SOAK"))
    files += {"/usr/bin/gawk", "/usr/bin/perl", "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
              "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libcapstone.so.5"};
  for (const QString& file : files)
    if (QFileInfo::exists(file))
      QTest::newRow(qPrintable(QFileInfo(file).fileName())) << QFileInfo(file).canonicalFilePath();
}

void TestSecondDecoder::theCopiesAreTheOriginals() {
  QFETCH(QString, file);
  for (const QStringList& options : {QStringList{"--null"}, QStringList{}}) {
    const auto run = ProductRun::prepare(file, options);
    QVERIFY2(run, run ? "" : qPrintable(run.error()));
    const auto checked = check(file, (*run)->program());
    QVERIFY2(checked, checked ? "" : qPrintable(checked.error()));
    QVERIFY2(checked->exitCode == 0, checked->output + checked->complaints);
    qInfo("%s", checked->output.trimmed().constData());
  }
}

// That the checker can fail: bytes of a program's copies are changed, one at a time. It may miss those
// between copies and those of the lookups that stand for indirect jumps, which it checks in part only.
void TestSecondDecoder::aChangedByteIsNoticed() {
  const QString program = QString(TRUTH_PROGRAM_DIR "/switches-O2");
  const auto run = ProductRun::prepare(program);
  QVERIFY2(run, run ? "" : qPrintable(run.error()));
  QFile file((*run)->program());
  QVERIFY(file.open(QFile::ReadOnly));
  const QByteArray good = file.readAll();
  file.close();
  const auto sections =
      runToEnd("readelf", {"-SW", (*run)->program()}, QProcessEnvironment::systemEnvironment());
  QVERIFY2(sections, sections ? "" : qPrintable(sections.error()));
  const auto found =
      QRegularExpression("\\.traceback\\.text\\s+PROGBITS\\s+([0-9a-f]+)\\s+([0-9a-f]+)\\s+([0-9a-f]+)")
          .match(QString::fromUtf8(sections->output));
  QVERIFY(found.hasMatch());
  const qsizetype offset = found.captured(2).toLongLong(nullptr, 16),
                  size = found.captured(3).toLongLong(nullptr, 16);
  // The copies follow the module's tables.
  int noticed = 0, tried = 0;
  for (qsizetype at = offset + size / 4; at < offset + size / 2; at += 17) {
    QByteArray bad = good;
    bad[at] = char(bad[at] ^ 0x11);
    QFile out((*run)->file("bad"));
    QVERIFY(out.open(QFile::WriteOnly) && out.write(bad) == bad.size());
    out.close();
    const auto checked = check(program, out.fileName());
    QVERIFY2(checked, checked ? "" : qPrintable(checked.error()));
    ++tried;
    noticed += checked->exitCode != 0;
  }
  qInfo("%d of %d changed bytes noticed", noticed, tried);
  QVERIFY(tried > 20);
  QVERIFY(noticed * 10 >= tried * 9);
}

QTEST_GUILESS_MAIN(TestSecondDecoder)
#include "tst_second_decoder.moc"
