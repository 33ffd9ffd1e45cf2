// The jump tables that one function's copy has, and the jumps that go by them: what stands for their loads,
// and out of line their slow ways and the stubs that entries lead by (table_jump.h).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "instrument/analysis/indirect_targets.h"
#include "instrument/analysis/jump_tables.h"
#include "instrument/emit/code_builder.h"
#include "instrument/emit/table_jump.h"

namespace traceback::instrument {

struct CopiedTable {
  JumpTable table;
  std::vector<std::pair<VirtAddr, std::uint32_t>> stubs;  // by where they lead: offsets in the copy's code
  VirtAddr place;  // where it goes, once known
};

class CopiedTables {
 public:
  // All must outlive it. `words`: null if no jump is to go by a table.
  CopiedTables(CodeBuilder& code, const Program& program, const Function& function,
               const IndirectTargets& targets, const ConstantWords* words);

  // How the block's jump goes by a table, if it does.
  std::optional<TableJump> jumpOf(const Block& block) const;
  // What stands for the load. `raw`: the original.
  void emitLoad(const TableJump& jump, std::span<const std::uint8_t> raw);

  // The slow ways of all that were emitted. `emitOriginal`: what an instruction becomes there.
  void emitSlowWays(const std::function<void(const Instruction&)>& emitOriginal);
  // `blocks`: where the function's are entered.
  void emitStubs(std::span<const Label> blocks);

  // Only once the code is settled. By number.
  std::vector<CopiedTable> settled() const;

 private:
  using Stub = std::pair<VirtAddr, Label>;
  struct Table {
    JumpTable table;
    std::optional<unsigned> target, scratch;  // that jumps come with changed
    std::optional<unsigned> base;  // that the program adds
    const Instruction* jump = nullptr;  // the first of them
    std::vector<Stub> stubs;

    bool isSame(const Table& other) const;
  };

  static Restored lostAt(const std::optional<IndirectTargets::Place>& place, const Table& table);
  void emitStubs(Table& table, std::span<const Label> blocks);

  CodeBuilder& m_code;
  const Program& m_program;
  const Function& m_function;
  const IndirectTargets& m_targets;
  const ConstantWords* m_words;
  std::vector<std::pair<TableJump, SlowWay>> m_slowWays;
  std::vector<Table> m_tables;
};

}  // namespace traceback::instrument
