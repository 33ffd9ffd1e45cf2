// Which lines have code, against what objdump reads from the same line table.
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <set>

#include "loader/symbols/code_lines.h"

using namespace traceback;

class CodeLines : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_folder;
  QString m_program;
  QString m_source;

  std::optional<std::vector<std::uint32_t>> lines(const QString& file, std::stop_token stop = {}) const {
    loader::ModuleFiles module;
    module.path = module.loadedPath = m_program.toStdString();
    return loader::linesWithCode(module, file.toStdString(), std::move(stop));
  }

 private slots:
  void initTestCase() {
    m_source = m_folder.filePath(QStringLiteral("plain.c"));
    QVERIFY(QFile::copy(QStringLiteral(TRACEBACK_TEST_PROGRAMS "/plain.c"), m_source));
    m_program = m_folder.filePath(QStringLiteral("plain"));
    QCOMPARE(QProcess::execute(QStringLiteral("gcc"),
                               {"-O0", "-g", "-Wl,--build-id=none", "-o", m_program, m_source}),
             0);
  }

  void linesOfInstructionsAreThereAndNoOthers() {
    const auto found = lines(m_source);
    QVERIFY(found.has_value());
    QVERIFY(std::ranges::is_sorted(*found));
    QProcess objdump;
    objdump.start(QStringLiteral("objdump"), {"--dwarf=decodedline", m_program});
    QVERIFY(objdump.waitForFinished());
    std::set<std::uint32_t> table;
    for (const QByteArray& row : objdump.readAllStandardOutput().split('\n')) {
      const QList<QByteArray> words = row.simplified().split(' ');
      if (words.size() >= 4 && words[0] == "plain.c" && words.last() == "x") table.insert(words[1].toUInt());
    }
    QVERIFY(table.size() > 20);
    for (const std::uint32_t line : *found) QVERIFY2(table.contains(line), qPrintable(QString::number(line)));
    // The body of a loop and each case have code; comments, includes and blank lines have none.
    QFile source(m_source);
    QVERIFY(source.open(QIODevice::ReadOnly));
    std::uint32_t number = 0;
    for (const QByteArray& text : source.readAll().split('\n')) {
      ++number;
      const bool has = std::ranges::binary_search(*found, number);
      if (text.contains("return") || text.contains("puts")) QVERIFY2(has, text.constData());
      if (text.isEmpty() || text.startsWith('#') || text.startsWith("/*")) QVERIFY2(!has, text.constData());
    }
  }

  void whatIsNotKnownIsNotSaid() {
    QVERIFY(!lines(QStringLiteral("/src/other.c")));
    // A file of the same name elsewhere is another file.
    QVERIFY(!lines(QStringLiteral("/src/plain.c")));
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(!lines(m_source, stop.get_token()));
    const QString stripped = m_folder.filePath(QStringLiteral("stripped"));
    QCOMPARE(QProcess::execute(QStringLiteral("strip"), {"-o", stripped, m_program}), 0);
    loader::ModuleFiles module;
    module.path = module.loadedPath = stripped.toStdString();
    QVERIFY(!loader::linesWithCode(module, m_source.toStdString()));
  }
};

QTEST_GUILESS_MAIN(CodeLines)
#include "tst_code_lines.moc"
