// Unwind programs: what they come to, which are refused, and that the way from one state to another is exact.
#include <dwarf.h>

#include <QTest>
#include <random>

#include "instrument/unwind/cfa_rows.h"

using namespace traceback::instrument;

namespace {

using Program = std::vector<std::byte>;

Program program(std::initializer_list<int> values) {
  Program bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

constexpr int kRax = 0, kRbx = 3, kRbp = 6, kRsp = 7, kRip = 16;

// On entry: CFA = rsp + 8, return address at CFA - 8.
const Program kCommon = program({DW_CFA_def_cfa, kRsp, 8, DW_CFA_offset + kRip, 1});

traceback::model::Result<UnwindRows> rowsOf(const Program& code, std::uint64_t size = 0x100) {
  static Cie cie;
  cie.dataAlignment = -8;
  cie.program = kCommon;
  Fde fde;
  fde.size = size;
  fde.program = code;
  return unwindRows(cie, fde);
}

const RegisterRule* ruleOf(const UnwindState& state, std::uint64_t reg) {
  for (const auto& rule : state.rules) {
    if (rule.reg == reg) return &rule;
  }
  return nullptr;
}

}  // namespace

class TestCfaRows : public QObject {
  Q_OBJECT
 private slots:
  void prologueAndEpilogueGiveARowEach() {
    const auto rows = rowsOf(program({DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset + kRbp,
                                      2, DW_CFA_advance_loc + 3, DW_CFA_def_cfa_register, kRbp,  //
                                      DW_CFA_advance_loc1, 0x80, DW_CFA_remember_state,  //
                                      DW_CFA_def_cfa, kRsp, 8, DW_CFA_restore + kRbp,  //
                                      DW_CFA_advance_loc + 1, DW_CFA_restore_state}));
    QVERIFY(rows.has_value());
    QCOMPARE(rows->rows.size(), std::size_t{5});
    QCOMPARE(rows->at(0).cfa.offset, 8);
    QVERIFY(ruleOf(rows->at(0), kRbp) == nullptr);
    QCOMPARE(rows->at(1).cfa.offset, 16);
    QCOMPARE(rows->at(3).cfa.baseRegister, std::uint64_t{kRsp});
    QCOMPARE(rows->at(4).cfa.baseRegister, std::uint64_t{kRbp});
    QCOMPARE(ruleOf(rows->at(0x83), kRbp)->operand, 2);
    QCOMPARE(rows->at(0x84).cfa.offset, 8);
    QVERIFY(ruleOf(rows->at(0x84), kRbp) == nullptr);
    QVERIFY(rows->at(0x85) == rows->at(0x83));
    QVERIFY(rows->at(0xFF) == rows->at(0x85));
  }

  void sizeOfArgumentsIsNotRestored() {
    const auto rows =
        rowsOf(program({DW_CFA_remember_state, DW_CFA_advance_loc + 1, DW_CFA_GNU_args_size, 16,
                        DW_CFA_def_cfa_offset, 32, DW_CFA_advance_loc + 1, DW_CFA_restore_state}));
    QVERIFY(rows.has_value());
    QCOMPARE(rows->at(0).argumentsSize, std::uint64_t{0});
    QCOMPARE(rows->at(1).argumentsSize, std::uint64_t{16});
    QCOMPARE(rows->at(2).argumentsSize, std::uint64_t{16});
    QCOMPARE(rows->at(2).cfa.offset, 8);
  }

  void rowsBehindTheFunctionAreDropped() {
    const auto rows = rowsOf(program({DW_CFA_advance_loc + 8, DW_CFA_def_cfa_offset, 16}), 8);
    QVERIFY(rows.has_value());
    QCOMPARE(rows->rows.size(), std::size_t{1});
  }

  void whatACopyCannotHaveIsRefused_data() {
    QTest::addColumn<QByteArray>("code");
    const auto row = [](const char* name, std::initializer_list<int> values) {
      QByteArray code;
      for (const int value : values) code.append(static_cast<char>(value));
      QTest::newRow(name) << code;
    };
    row("set_loc", {DW_CFA_set_loc, 0, 0, 0, 0, 0, 0, 0, 0});
    row("val_offset", {DW_CFA_val_offset, kRbx, 1});
    row("val_offset_sf", {DW_CFA_val_offset_sf, kRbx, 1});
    row("of another machine", {0x2D});
    row("unknown", {0x3C});
    row("restore without remember", {DW_CFA_restore_state});
    row("truncated", {DW_CFA_def_cfa, kRsp});
    row("truncated number", {DW_CFA_def_cfa_offset, 0x80});
    row("truncated expression", {DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 8});
    row("procedure linkage table",
        {DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11,
         DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus});
    row("program counter by number", {DW_CFA_expression, kRbx, 3, DW_OP_bregx, kRip, 0});
    row("address", {DW_CFA_expression, kRbx, 9, DW_OP_addr, 0, 0, 0, 0, 0, 0, 0, 0});
    row("call", {DW_CFA_val_expression, kRbx, 3, DW_OP_call2, 0, 0});
    row("offset of an expression", {DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8, DW_CFA_def_cfa_offset, 16});
    row("negative frame offset", {DW_CFA_def_cfa_sf, kRsp, 1});
  }
  void whatACopyCannotHaveIsRefused() {
    QFETCH(QByteArray, code);
    const auto bytes = std::as_bytes(std::span(code.constData(), static_cast<std::size_t>(code.size())));
    QVERIFY(!rowsOf(Program(bytes.begin(), bytes.end())));
  }

  void expressionsOfRegistersAndMemoryAreKept() {
    // As GCC writes them for a realigned stack: the frame is where rbp - 8 says.
    const auto rows = rowsOf(program({DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref,
                                      DW_CFA_expression, kRbx, 2, DW_OP_breg6, 0x68}));
    QVERIFY(rows.has_value());
    QVERIFY(rows->at(0).cfa.isExpression);
    QCOMPARE(rows->at(0).cfa.expression.size(), std::size_t{3});
    QCOMPARE(ruleOf(rows->at(0), kRbx)->expression.size(), std::size_t{2});
  }

  void transitionsReachExactlyTheirState() {
    std::mt19937 random(20054);
    for (int round = 0; round < 500; ++round) {
      Program code;
      const auto add = [&](std::initializer_list<int> values) {
        for (const int value : values) code.push_back(static_cast<std::byte>(value));
      };
      int remembered = 0;
      bool expression = false;
      for (int i = 0; i < 30; ++i) {
        const int reg = std::array{kRax, kRbx, kRbp, kRip, 40, 100}[random() % 6];
        const int small = static_cast<int>(random() % 60);
        switch (random() % 13) {
          case 0:
            add({DW_CFA_def_cfa, kRbp, small});
            expression = false;
            break;
          case 1:
            add({DW_CFA_def_cfa_expression, 2, DW_OP_breg6, small});
            expression = true;
            break;
          case 2:
            add({DW_CFA_offset_extended, reg, small});
            break;
          case 3:
            add({DW_CFA_offset_extended_sf, reg, 0x7F - small % 0x40});
            break;
          case 4:
            add({DW_CFA_undefined, reg});
            break;
          case 5:
            add({DW_CFA_same_value, reg});
            break;
          case 6:
            add({DW_CFA_register, reg, kRax});
            break;
          case 7:
            add({DW_CFA_expression, reg, 2, DW_OP_breg7, small});
            break;
          case 8:
            add({DW_CFA_val_expression, reg, 2, DW_OP_breg7, small});
            break;
          case 9:
            add({DW_CFA_restore_extended, reg});
            break;
          case 10:
            add({DW_CFA_GNU_args_size, small});
            break;
          case 11:
            add({DW_CFA_remember_state});
            ++remembered;
            break;
          default:
            if (remembered > 0) {
              add({DW_CFA_restore_state, DW_CFA_def_cfa, kRsp, small});
              expression = false;
              --remembered;
            } else if (!expression) {
              add({DW_CFA_def_cfa_offset, small});
            }
        }
        add({DW_CFA_advance_loc + 1});
      }
      const auto rows = rowsOf(code);
      QVERIFY2(rows.has_value(), rows ? "" : rows.error().text().c_str());
      ByteSink way;
      const UnwindState* state = &rows->initial;
      std::vector<const UnwindState*> visited;
      for (int i = 0; i < 40; ++i) {
        const UnwindState* next = &rows->rows[random() % rows->rows.size()].state;
        appendTransition(way, *state, *next);
        appendAdvance(way, std::array{1, 0x50, 0x300, 0x12345}[static_cast<std::size_t>(i % 4)]);
        state = next;
        visited.push_back(next);
      }
      const Program taken(way.bytes().begin(), way.bytes().end());
      const auto reached = rowsOf(taken, 0x100'0000);
      QVERIFY2(reached.has_value(), reached ? "" : reached.error().text().c_str());
      std::uint64_t at = 0;
      for (std::size_t i = 0; i < visited.size(); ++i) {
        QVERIFY(reached->at(at) == *visited[i]);
        at += std::array<std::uint64_t, 4>{1, 0x50, 0x300, 0x12345}[i % 4];
        QVERIFY(reached->at(at - 1) == *visited[i]);
      }
    }
  }

  void damageNeverDoesMoreThanAnError() {
    std::mt19937 random(20055);
    for (int round = 0; round < 20'000; ++round) {
      Program code(random() % 60);
      for (auto& byte : code) byte = static_cast<std::byte>(random());
      const auto rows = rowsOf(code);
      if (rows) QVERIFY(!rows->rows.empty() && rows->rows[0].offset == 0);
    }
  }
};

QTEST_APPLESS_MAIN(TestCfaRows)
#include "tst_cfa_rows.moc"
