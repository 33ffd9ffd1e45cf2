// The checksums of sources in debug information, against the sources.
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "loader/symbols/dwarf_line_source.h"
#include "loader/symbols/file_checksums.h"
#include "loader/symbols/object_file.h"

using namespace traceback;

namespace {

bool run(const QString& program, const QStringList& arguments, const QString& folder) {
  QProcess process;
  process.setWorkingDirectory(folder);
  process.start(program, arguments);
  return process.waitForFinished(60'000) && process.exitCode() == 0;
}

QByteArray sumOf(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  return QCryptographicHash::hash(file.readAll(), QCryptographicHash::Md5).toHex();
}

}  // namespace

class FileChecksums : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_folder;

  QString path(const QString& name) const { return QDir(m_folder.path()).canonicalPath() + u'/' + name; }
  void write(const QString& name, const QByteArray& text) const {
    QFile file(path(name));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
  }
  // Of the program's sources that are in the folder, by path.
  QMap<QString, QByteArray> checksums(const QString& program) const {
    auto object = loader::ObjectFile::open(path(program).toStdString());
    if (!object) return {};
    loader::ModuleFiles module;
    module.path = path(program).toStdString();
    module.buildId = object->buildId();
    std::string note;
    const auto lines = loader::openLineSource(module, note);
    if (!lines) return {};
    if (!lines->checksums().empty()) return {};  // nothing was asked for yet
    (void)lines->rangesIn({0}, {UINT64_MAX});
    QMap<QString, QByteArray> found;
    for (const auto& [name, sum] : lines->checksums()) {
      const QString file = QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
      if (file.startsWith(path({}))) found[file] = QByteArray::fromStdString(model::text(sum));
    }
    return found;
  }

 private slots:
  void initTestCase() {
    QVERIFY(QDir(m_folder.path()).mkpath(QStringLiteral("sub/deep")));
    // Clang leaves out all of a unit's if it has none of one file, as of some of libstdc++.
    write(QStringLiteral("twice.h"), "static inline int twice(int a) { return 2 * a; }\n");
    write(QStringLiteral("main.c"),
          "#include \"twice.h\"\nint main(int count, char** words) {\n  return words[0][0] + "
          "twice(count);\n}\n");
  }

  void clangsAreThoseOfTheFiles_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QString>("folder");
    QTest::newRow("plain") << QStringList{} << QString();
    QTest::newRow("from a folder below") << QStringList{} << QStringLiteral("sub/deep");
    QTest::newRow("compressed") << QStringList{QStringLiteral("-gz")} << QString();
    QTest::newRow("64-bit format") << QStringList{QStringLiteral("-gdwarf64")} << QString();
    QTest::newRow("split") << QStringList{QStringLiteral("-gsplit-dwarf")} << QString();
  }
  void clangsAreThoseOfTheFiles() {
    QFETCH(QStringList, options);
    QFETCH(QString, folder);
    // By a relative name, where there is one.
    const QString source = folder.isEmpty() ? QStringLiteral("main.c") : QStringLiteral("../../main.c");
    QVERIFY(run(QStringLiteral("clang"),
                QStringList{QStringLiteral("-gdwarf-5"), QStringLiteral("-O0"), QStringLiteral("-o"),
                            path(QStringLiteral("program")), source} +
                    options,
                path(folder)));
    const QMap<QString, QByteArray> expected{
        {path(QStringLiteral("main.c")), sumOf(path(QStringLiteral("main.c")))},
        {path(QStringLiteral("twice.h")), sumOf(path(QStringLiteral("twice.h")))}};
    QCOMPARE(checksums(QStringLiteral("program")), expected);
  }

  void withoutChecksumsThereAreNone_data() {
    QTest::addColumn<QString>("compiler");
    QTest::addColumn<QString>("option");
    QTest::newRow("GCC") << "g++" << "-gdwarf-5";
    QTest::newRow("DWARF 4") << "clang" << "-gdwarf-4";
  }
  void withoutChecksumsThereAreNone() {
    QFETCH(QString, compiler);
    QFETCH(QString, option);
    QVERIFY(run(compiler,
                {option, QStringLiteral("-o"), path(QStringLiteral("program")), QStringLiteral("main.c")},
                path({})));
    QVERIFY(checksums(QStringLiteral("program")).isEmpty());
  }

  void offsetsOutsideAreNoTables() {
    const std::vector<std::byte> bytes(64);
    const loader::LineSections sections{bytes, bytes, bytes};
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{60}, std::uint64_t{64}, UINT64_MAX})
      QVERIFY(loader::fileChecksums(sections, offset).empty());
  }
};

QTEST_APPLESS_MAIN(FileChecksums)
#include "tst_file_checksums.moc"
