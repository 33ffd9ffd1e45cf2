// A program that throws, whose functions run as copies: whole, at a constant distance, cut into fragments
// with unwind entries of their own. The originals are filled with breakpoints, so whatever unwinding leads
// back to them ends the program.
#include <Zydis/Zydis.h>

#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cstring>
#include <random>

#include "instrument/elf/elf_writer.h"
#include "instrument/unwind/unwind_builder.h"
#include "loader/mapped_file.h"

using namespace traceback;
using namespace traceback::instrument;
using model::VirtAddr;

namespace {

struct CopiedFunction {
  std::uint32_t fde = 0;
  VirtAddr start;
  std::uint64_t size = 0;
  std::vector<Piece> pieces;
};

// Copies all that a program's unwind information covers. The code stays in order, at `distance`.
class Copier {
 public:
  Copier(const loader::ElfImage& image, const EhFrame& frame, std::uint64_t distance)
      : m_image(image), m_frame(frame), m_distance(distance) {
    ZydisDecoderInit(&m_decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  bool selectFunctions() {
    for (std::uint32_t i = 0; i < m_frame.fdes.size(); ++i) {
      const Fde& fde = m_frame.fdes[i];
      constexpr std::uint64_t kJumpSize = 5;
      if (fde.size < kJumpSize || fde.contains(m_image.entry())) continue;
      CopiedFunction function{.fde = i, .start = fde.start, .size = fde.size, .pieces = {}};
      std::vector<VirtAddr> starts;
      const auto code = m_image.bytesAt(fde.start, fde.size);
      if (!code) return false;
      for (std::uint64_t at = 0; at < fde.size;) {
        ZydisDecodedInstruction instruction;
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&m_decoder, nullptr, code->data() + at, fde.size - at,
                                                        &instruction))) {
          return false;
        }
        starts.push_back({fde.start.value + at});
        function.pieces.push_back({.original = starts.back(),
                                   .originalSize = instruction.length,
                                   .copy = fde.start.value + at + m_distance,
                                   .copySize = instruction.length});
        at += instruction.length;
      }
      if (canCarry(m_image, m_frame, i, starts)) functions.push_back(std::move(function));
    }
    std::ranges::sort(functions, {}, &CopiedFunction::start);
    return !functions.empty();
  }

  bool isCopied(std::uint64_t address) const {
    return std::ranges::any_of(functions, [&](const CopiedFunction& function) {
      return address >= function.start.value && address - function.start.value < function.size;
    });
  }

  // The code of all, from `base` on, with what it refers to outside of it put right.
  std::vector<std::byte> makeCode(std::uint64_t base) {
    std::vector<std::byte> code(functions.back().start.value + functions.back().size + m_distance - base,
                                std::byte{0xCC});
    for (const auto& function : functions) {
      const auto original = *m_image.bytesAt(function.start, function.size);
      auto* copy = code.data() + (function.start.value + m_distance - base);
      std::ranges::copy(original, copy);
      for (const Piece& piece : function.pieces)
        relocate(piece, copy + (piece.original.value - function.start.value));
    }
    return code;
  }

  std::vector<CopiedFunction> functions;

 private:
  void relocate(const Piece& piece, std::byte* copy) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&m_decoder, copy, piece.originalSize, &instruction, operands))) {
      qFatal("undecodable");
    }
    for (int i = 0; i < instruction.operand_count_visible; ++i) {
      const auto& operand = operands[i];
      int offset = 0;
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RIP) {
        offset = instruction.raw.disp.offset;
      } else if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative != 0) {
        const auto target =
            piece.original.value + piece.originalSize + static_cast<std::uint64_t>(operand.imm.value.s);
        if (isCopied(target)) continue;
        if (instruction.raw.imm[0].size != 32) qFatal("short jump out of the copies");
        offset = instruction.raw.imm[0].offset;
      } else {
        continue;
      }
      std::uint32_t value = 0;
      std::memcpy(&value, copy + offset, 4);
      value -= static_cast<std::uint32_t>(m_distance);
      std::memcpy(copy + offset, &value, 4);
    }
  }

  const loader::ElfImage& m_image;
  const EhFrame& m_frame;
  std::uint64_t m_distance;
  ZydisDecoder m_decoder{};
};

Patch jumpAndPoison(const CopiedFunction& function, std::uint64_t distance) {
  Patch patch{.address = function.start, .bytes = std::vector<std::byte>(function.size, std::byte{0xCC})};
  patch.bytes[0] = std::byte{0xE9};
  const auto displacement = static_cast<std::uint32_t>(distance - 5);
  std::memcpy(&patch.bytes[1], &displacement, 4);
  return patch;
}

struct Run {
  bool exited = false;
  int code = -1;
  QByteArray out, err;
};

Run run(const QString& program) {
  QProcess process;
  process.start(program, QStringList());
  if (!process.waitForFinished(60'000)) return {};
  return {process.exitStatus() == QProcess::NormalExit, process.exitCode(), process.readAllStandardOutput(),
          process.readAllStandardError()};
}

}  // namespace

class TestCopiedCode : public QObject {
  Q_OBJECT
 private slots:
  void stackIsWalkedThroughCopiesAsThroughTheOriginals_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<int>("cuts");
    for (const char* path : {THROWING_O0, THROWING_O2, THROWING_NO_PIE, THROWING_STATIC_PIE}) {
      for (const int cuts : {0, 1, 3}) {
        QTest::addRow("%s, cut %d times", path, cuts) << QString::fromLatin1(path) << cuts;
      }
    }
  }
  void stackIsWalkedThroughCopiesAsThroughTheOriginals() {
    QFETCH(QString, path);
    QFETCH(int, cuts);
    const auto expected = run(path);
    QVERIFY(expected.exited);
    QCOMPARE(expected.code, 7);
    QVERIFY(expected.out.contains("frames 9\n") && expected.out.endsWith("terminated\n"));

    const auto file = loader::MappedFile::open(path.toStdString());
    QVERIFY(file.has_value());
    const auto image = loader::ElfImage::parse(file->bytes(), path.toStdString());
    QVERIFY(image.has_value());
    const auto frame = readEhFrame(*image);
    QVERIFY2(frame.has_value(), frame ? "" : frame.error().text().c_str());
    const auto plan = planAdditions(*image, 0);
    QVERIFY2(plan.has_value(), plan ? "" : plan.error().text().c_str());
    const std::uint64_t base = plan->segment.value;

    // A static program is full of code that reads its own bytes or is called before relocation: of that only
    // the program's own functions.
    const auto symbols = image->symbols();
    QVERIFY(symbols.has_value());
    std::uint64_t lowest = UINT64_MAX;
    for (const Fde& fde : frame->fdes) lowest = std::min(lowest, fde.start.value);
    const std::uint64_t distance = base + 0x1000 - lowest / 0x1000 * 0x1000;
    Copier copier(*image, *frame, distance);
    QVERIFY(copier.selectFunctions());
    if (path == THROWING_STATIC_PIE) {
      std::erase_if(copier.functions, [&](const CopiedFunction& function) {
        return std::ranges::none_of(*symbols, [&](const loader::ElfSymbol& symbol) {
          return symbol.address == function.start && symbol.type() == STT_FUNC &&
                 (symbol.name == "main" || symbol.name == "main.cold" ||
                  symbol.name.starts_with("_ZN12_GLOBAL__N_1")) &&
                 symbol.size == function.size;
        });
      });
    }
    QVERIFY(copier.functions.size() > 10);

    ElfAdditions additions;
    additions.segment = copier.makeCode(base);
    additions.parts.push_back(
        {.name = ".traceback.text", .address = {base}, .size = additions.segment.size(), .executable = true});
    std::mt19937 random(static_cast<unsigned>(cuts));
    std::vector<Fragment> fragments;
    for (const auto& function : copier.functions) {
      additions.patches.push_back(jumpAndPoison(function, distance));
      std::vector<std::size_t> at{0, function.pieces.size()};
      for (int i = 0; i < cuts; ++i) at.push_back(random() % function.pieces.size());
      std::ranges::sort(at);
      for (std::size_t i = 1; i < at.size(); ++i) {
        if (at[i] == at[i - 1]) continue;
        fragments.push_back({.fde = function.fde,
                             .pieces = {function.pieces.begin() + static_cast<std::ptrdiff_t>(at[i - 1]),
                                        function.pieces.begin() + static_cast<std::ptrdiff_t>(at[i])}});
      }
    }
    const auto pads = [&](VirtAddr pad) -> std::optional<std::uint64_t> {
      return copier.isCopied(pad.value) ? std::optional(pad.value + distance) : std::nullopt;
    };
    const auto tables = buildUnwindTables(*image, *frame, fragments, pads, {base + additions.segment.size()});
    QVERIFY2(tables.has_value(), tables ? "" : tables.error().text().c_str());
    additions.segment.resize(tables->end() - base);
    for (const auto& [name, table] :
         {std::pair{".eh_frame_hdr", &tables->header}, std::pair{".gcc_except_table", &tables->exceptions},
          std::pair{".eh_frame", &tables->frame}}) {
      std::ranges::copy(table->bytes,
                        additions.segment.begin() + static_cast<std::ptrdiff_t>(table->address.value - base));
      additions.parts.push_back(
          {.name = name, .address = table->address, .size = table->bytes.size(), .alignment = 4});
    }
    additions.ehFrameHeader = tables->header.address;
    additions.ehFrameHeaderSize = tables->header.bytes.size();
    const auto written = writeElf(*image, *plan, additions);
    QVERIFY2(written.has_value(), written ? "" : written.error().text().c_str());

    QTemporaryDir folder;
    QFile output(folder.filePath("copied"));
    QVERIFY(output.open(QIODevice::WriteOnly));
    output.write(reinterpret_cast<const char*>(written->data()), static_cast<qint64>(written->size()));
    output.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    output.close();
    const auto copied = run(output.fileName());
    QCOMPARE(copied.err, expected.err);
    QCOMPARE(copied.out, expected.out);
    QVERIFY(copied.exited);
    QCOMPARE(copied.code, expected.code);
  }
};

QTEST_APPLESS_MAIN(TestCopiedCode)
#include "tst_copied_code.moc"
