#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "loader/disasm/disassemble.h"
#include "loader/disasm/module_code.h"

using namespace traceback;
using namespace traceback::loader;
using model::VirtAddr;

namespace {

QByteArray run(const QString& program, const QStringList& arguments) {
  QProcess process;
  process.start(program, arguments);
  process.waitForFinished(60'000);
  if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) {
    qFatal("%s: %s", qPrintable(program), process.readAllStandardError().constData());
  }
  return process.readAllStandardOutput();
}

std::vector<std::byte> bytesOf(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// A line of objdump: "  1139:\t55                   \tpush   %rbp".
struct Listed {
  std::uint64_t address = 0;
  QByteArray bytes, text;
};

std::vector<Listed> listingOf(const QString& file) {
  std::vector<Listed> listing;
  for (const QByteArray& line : run("objdump", {"-d", "--insn-width=15", "-j", ".text", file}).split('\n')) {
    const auto columns = line.split('\t');
    if (columns.size() < 2 || !line.startsWith(' ')) continue;
    listing.push_back({columns[0].trimmed().chopped(1).toULongLong(nullptr, 16), columns[1].trimmed(),
                       columns.size() > 2 ? columns[2] : QByteArray()});
  }
  return listing;
}

}  // namespace

class DisasmTest : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_dir;
  QString m_file;
  std::string m_id;

 private slots:
  void initTestCase() {
    m_file = m_dir.filePath("program");
    run("g++", {"-O2", "-o", m_file, QString(TRACEBACK_TEST_PROGRAMS) + "/shapes.cpp"});
    const auto file = MappedFile::open(m_file.toStdString());
    QVERIFY(file);
    m_id = ElfImage::parse(file->bytes(), "program")->buildId();
    QVERIFY(!m_id.empty());
  }

  void aProgramReadsAsObjdumpReadsIt() {
    const auto code = ModuleCode::open(m_file.toStdString(), m_id);
    QVERIFY2(code, code ? "" : code.error().text().c_str());
    const auto listing = listingOf(m_file);
    QVERIFY(listing.size() > 200);
    const VirtAddr start{listing.front().address},
        end{listing.back().address + (listing.back().bytes.size() + 1) / 3};
    const auto found = code->instructionsIn(start, end, 100'000);
    QCOMPARE(found.size(), listing.size());
    int targets = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      QCOMPARE(found[i].address.value, listing[i].address);
      QCOMPARE(QByteArray::fromStdString(found[i].bytes), listing[i].bytes);
      // "call   1090 <puts@plt>", "jne    11f0 <main+0x30>", "bnd jmp ..."
      const auto words = listing[i].text.simplified().split(' ');
      const bool direct = words.size() >= 3 && words.last().startsWith('<') && !listing[i].text.contains('%');
      QVERIFY2(found[i].target.has_value() == direct,
               (listing[i].text + " / " +
                QByteArray::fromStdString(found[i].bytes + " " + found[i].mnemonic + " " + found[i].operands))
                   .constData());
      if (!direct) continue;
      QCOMPARE(found[i].target->value, words[words.size() - 2].toULongLong(nullptr, 16));
      ++targets;
    }
    QVERIFY(targets > 30);
  }

  void instructionsAreTextInEitherSyntax() {
    const auto code = bytesOf({0x48, 0x89, 0xe5, 0xe8, 0x10, 0x00, 0x00, 0x00});
    const auto att = disassemble(code, {0x1000}, 10);
    QCOMPARE(att.size(), std::size_t(2));
    QCOMPARE(att[0].bytes, std::string("48 89 e5"));
    QCOMPARE(att[0].mnemonic, std::string("movq"));
    QCOMPARE(att[0].operands, std::string("%rsp, %rbp"));
    QCOMPARE(att[0].target, std::nullopt);
    QCOMPARE(att[1].target, std::optional(VirtAddr{0x1018}));
    const auto intel = disassemble(code, {0x1000}, 1, Syntax::Intel);
    QCOMPARE(intel.size(), std::size_t(1));
    QCOMPARE(intel[0].operands, std::string("rbp, rsp"));
  }

  void badBytesStandAlone() {
    const auto code = bytesOf({0x06, 0x90, 0xe8, 0x10, 0x00});
    const auto found = disassemble(code, {0}, 100);
    QVERIFY(found.size() >= 4);
    QCOMPARE(found[0].mnemonic, std::string("(bad)"));
    QCOMPARE(found[0].bytes, std::string("06"));
    QCOMPARE(found[1].mnemonic, std::string("nop"));
    QCOMPARE(found[2].mnemonic, std::string("(bad)"));  // a call that is cut off
    std::size_t size = 0;
    for (const Instruction& instruction : found) size += instruction.size;
    QCOMPARE(size, code.size());
    QVERIFY(disassemble({}, {0}, 100).empty());
  }

  void codeOfAnotherBuildIsRefused() {
    const auto code = ModuleCode::open(m_file.toStdString(), "00112233");
    QVERIFY(!code);
    QVERIFY2(QString::fromStdString(code.error().text()).contains(m_file + ": its build id is"),
             code.error().text().c_str());
    QVERIFY(!ModuleCode::open("/nonexistent/file", m_id));
    QVERIFY(!ModuleCode::open(TRACEBACK_TEST_PROGRAMS "/shapes.cpp", m_id));
  }

  void dataIsNotCode() {
    const auto code = ModuleCode::open(m_file.toStdString(), m_id);
    QVERIFY(code);
    QVERIFY(code->bytesFrom({0}, 16).empty());  // the ELF header's segment
    QVERIFY(code->bytesFrom({UINT64_MAX}, 16).empty());
    QVERIFY(code->bytesFrom({0x7000'0000}, 16).empty());
    QVERIFY(code->instructionsIn({0x2000}, {0x1000}, 16).empty());
    const VirtAddr start{listingOf(m_file).front().address};
    QCOMPARE(code->bytesFrom(start, 16).size(), std::size_t(16));
    QCOMPARE(code->instructionsIn(start, {UINT64_MAX}, 3).size(), std::size_t(3));
  }

  void theOriginalIsPreferredToTheInstrumentedFile() {
    const std::string marked = m_dir.filePath("marked").toStdString();
    run("objcopy", {"--add-section", ".traceback.map=" TRACEBACK_TEST_PROGRAMS "/plain.c", m_file,
                    QString::fromStdString(marked)});
    auto code = ModuleCode::openFirst({"/nonexistent", marked, m_file.toStdString()}, m_id);
    QVERIFY(code && !code->isInstrumented());
    QCOMPARE(code->path(), m_file.toStdString());
    code = ModuleCode::openFirst({"", marked}, m_id);
    QVERIFY(code && code->isInstrumented());
    code = ModuleCode::openFirst({"/nonexistent", "/none"}, m_id);
    QVERIFY(!code && code.error().file == "/nonexistent");
    QVERIFY(!ModuleCode::openFirst({}, m_id));
  }
};

QTEST_GUILESS_MAIN(DisasmTest)
#include "tst_disasm.moc"
