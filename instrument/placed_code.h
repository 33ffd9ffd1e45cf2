// The copies of a plan's functions and the routines that they call, each at its place in the new segment.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "instrument/analysis/indirect_targets.h"
#include "instrument/emit/function_emitter.h"
#include "instrument/emit/routines.h"
#include "instrument/map/map_writer.h"
#include "instrument/plan.h"

namespace traceback::instrument {

// In order of addresses: routines, copies, lookup tables (dispatch.h, table_jump.h). Refers to the plan,
// whose functions lose their instructions, unless they are to be poisoned: as the copies grow, these go.
class PlacedCode {
 public:
  // From `start` on. `moduleSlots`: where the ModuleSlots will be. `progress` goes from 0 to 1.
  PlacedCode(Plan& plan, VirtAddr start, VirtAddr moduleSlots, const Options& options,
             const Progress& progress);

  const std::vector<FunctionCode>& copies() const { return m_copies; }  // by original address
  const std::vector<std::size_t>& byPlace() const { return m_byPlace; }  // which of these stands where
  const Routines& routines() const { return m_routines; }
  VirtAddr routinesAt() const { return m_routinesAt; }
  VirtAddr copyStart() const { return m_copyStart; }
  VirtAddr copyEnd() const { return m_copyEnd; }
  VirtAddr tablesEnd() const { return m_tablesEnd; }

  // What the map says of each copy; none of a null map.
  const std::vector<std::vector<format::BlockEntry>>& blockEntries() const { return m_blockEntries; }
  // The copies' stretches are not asked for any more.
  void letGoOfStretches();

  // The copy of an original address that other code may go to: the start of a block that is a head.
  std::optional<VirtAddr> copyAt(VirtAddr original) const;

  // Writes all of it to `bytes`, which begin at `address`, in that many threads, and lets go of what copies
  // refer to. False if something refers to what it does not reach: then the bytes mean nothing.
  bool write(std::span<std::byte> bytes, VirtAddr address, unsigned threads);

 private:
  void emit(VirtAddr moduleSlots, const Options& options, const Progress& progress);
  void place(VirtAddr start);
  const FunctionCode* copyOf(const Function& function) const;
  VirtAddr placeOf(const CodeBuilder::Reference& reference, const FunctionCode& from) const;
  VirtAddr placeOfTarget(VirtAddr target, const IndirectTargets& known) const;
  bool writeJumpTables(const FunctionCode& copy, std::span<std::byte> bytes, VirtAddr address) const;

  Plan& m_plan;
  std::vector<FunctionCode> m_copies;
  std::vector<std::vector<format::BlockEntry>> m_blockEntries;
  std::vector<std::size_t> m_byPlace;
  Routines m_routines;
  VirtAddr m_routinesAt, m_copyStart, m_copyEnd, m_tablesEnd;
};

}  // namespace traceback::instrument
