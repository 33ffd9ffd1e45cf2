#include "instrument/placed_code.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <string_view>

#include "instrument/analysis/constant_words.h"
#include "instrument/emit/dispatch.h"
#include "instrument/emit/table_jump.h"
#include "instrument/parallel.h"
#include "instrument/rounding.h"

namespace traceback::instrument {

namespace {

constexpr std::uint64_t kCodeAlignment = 16, kRoutineAlignment = 64, kTableAlignment = 4;

// From where its entries count.
std::uint64_t originOf(const JumpTable& table) {
  return table.kind == JumpTable::Kind::Absolute ? 0 : table.original.value;
}

// Puts code to `out`, which is at `at` then. Whether all that it refers to can be reached.
template <typename PlaceOf>
bool link(std::span<const std::byte> code, std::byte* out, VirtAddr at,
          std::span<const CodeBuilder::Reference> references, PlaceOf placeOf) {
  std::ranges::copy(code, out);
  bool reaches = true;
  for (const CodeBuilder::Reference& reference : references) {
    const bool isDistance = reference.to != CodeBuilder::Reference::To::JumpTable;
    const std::uint64_t end = isDistance ? at.value + reference.field + 4 + reference.tail : 0;
    const auto distance = std::int64_t(placeOf(reference).value - end);
    const auto narrow = std::int32_t(distance);
    reaches = reaches && narrow == distance;
    std::memcpy(out + reference.field, &narrow, sizeof narrow);
  }
  return reaches;
}

}  // namespace

PlacedCode::PlacedCode(Plan& plan, VirtAddr start, VirtAddr moduleSlots, const Options& options,
                       const Progress& progress)
    : m_plan(plan) {
  emit(moduleSlots, options, progress);
  place(start);
}

void PlacedCode::emit(VirtAddr moduleSlots, const Options& options, const Progress& progress) {
  const auto with = [&](std::string_view technique) { return !options.without.contains(technique); };
  std::optional<ConstantWords> words;
  if (with(kJumpTables)) words.emplace(*m_plan.program.image);
  const EmitOptions emitOptions{.probes = !options.nullMode && !options.poison,
                                .keepCursor = with(kKeptCursor),
                                .sharedHeads = with(kSharedHeads),
                                .headsInPlace = with(kHeadsInPlace),
                                .calledSlots = with(kCalledSlots),
                                .alwaysBound = options.poison,
                                .jumpTables = words ? &*words : nullptr,
                                .moduleSlots = moduleSlots,
                                .codeBase = m_plan.codeBase,
                                .threadSlot = options.threadSlot};
  auto& functions = m_plan.program.functions;
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < functions.size(); ++i)
    if (functions[i].skip == format::SkipReason::None) chosen.push_back(i);
  m_copies.resize(chosen.size());
  if (emitOptions.probes) m_blockEntries.resize(chosen.size());
  forEachIndex(
      chosen.size(), options.threads,
      [&](std::size_t i) {
        Function& function = functions[chosen[i]];
        m_copies[i] = emitFunction(m_plan.program, function, m_plan.windows[chosen[i]], emitOptions);
        if (emitOptions.probes) m_blockEntries[i] = instrument::blockEntries(m_plan.program, function);
        if (!options.poison) function.instructions = std::vector<Instruction>();
      },
      progress);
  RoutineSet routines;
  for (const FunctionCode& copy : m_copies) routines |= copy.routines;
  m_routines = emitRoutines(routines, moduleSlots, options.threadSlot);
}

void PlacedCode::place(VirtAddr start) {
  m_routinesAt = {roundedUp(start.value, kRoutineAlignment)};
  std::uint64_t at = roundedUp(m_routinesAt.value + m_routines.code.size(), kCodeAlignment);
  m_copyStart = {at};
  m_byPlace.resize(m_copies.size());
  std::iota(m_byPlace.begin(), m_byPlace.end(), std::size_t{0});
  // What ran, as far as a profile knows, lies together.
  std::ranges::stable_partition(m_byPlace, [this](std::size_t i) { return m_copies[i].function->ran(); });
  for (const std::size_t i : m_byPlace) {
    if (!m_copies[i].function->isCold()) at = roundedUp(at, kCodeAlignment);
    m_copies[i].place = {at};
    at += m_copies[i].code.size();
  }
  m_copyEnd = {roundedUp(at, kCodeAlignment)};
  at = m_copyEnd.value;
  for (FunctionCode& copy : m_copies) {
    if (!copy.hasTable) continue;
    copy.tablePlace = {at};
    at += roundedUp(dispatchTableSize(*copy.function), kTableAlignment);
  }
  for (FunctionCode& copy : m_copies) {
    for (CopiedTable& copied : copy.jumpTables) {
      const std::uint64_t size = entrySize(copied.table.kind);
      at = roundedUp(at, size);
      copied.place = {at};
      at += copied.table.entries() * size;
    }
  }
  m_tablesEnd = {at};
}

void PlacedCode::letGoOfStretches() {
  for (FunctionCode& copy : m_copies) copy.stretches = std::vector<Stretch>();
}

const FunctionCode* PlacedCode::copyOf(const Function& function) const {
  const auto it = std::ranges::lower_bound(m_copies, function.start, {},
                                           [](const FunctionCode& c) { return c.function->start; });
  return it != m_copies.end() && it->function == &function ? &*it : nullptr;
}

std::optional<VirtAddr> PlacedCode::copyAt(VirtAddr original) const {
  const Function* f = m_plan.program.functionAt(original);
  const FunctionCode* copy = f == nullptr ? nullptr : copyOf(*f);
  if (copy == nullptr) return std::nullopt;
  const BlockIndex b = f->blockAt(original);
  if (b == kNone || !f->blocks[b].head) return std::nullopt;
  return VirtAddr{copy->place.value + copy->blocks[b]};
}

VirtAddr PlacedCode::placeOf(const CodeBuilder::Reference& reference, const FunctionCode& from) const {
  if (reference.routine) return {m_routinesAt.value + m_routines.offsets[reference.target.value]};
  if (reference.table) return copyOf(*m_plan.program.functionStartingAt(reference.target))->tablePlace;
  if (reference.to == CodeBuilder::Reference::To::JumpTable) {
    const CopiedTable& copied = from.jumpTables[reference.target.value];
    return {copied.place.value - originOf(copied.table)};
  }
  if (reference.to == CodeBuilder::Reference::To::Itself) return reference.target;
  if (reference.to == CodeBuilder::Reference::To::BehindEntry) {
    const FunctionCode* copy = copyOf(*m_plan.program.functionStartingAt(reference.target));
    return {copy->place.value + copy->behindEntry};
  }
  if (!from.keepsCursor)
    if (const Function* f = m_plan.program.functionStartingAt(reference.target))
      if (const FunctionCode* copy = copyOf(*f); copy != nullptr && copy->keepsCursor)
        return {copy->place.value + copy->unkeptEntry};
  return copyAt(reference.target).value_or(reference.target);
}

// The copy of a place that an indirect jump leads to, or that itself.
VirtAddr PlacedCode::placeOfTarget(VirtAddr target, const IndirectTargets& known) const {
  const auto place = known.at(target);
  if (!place) return target;
  const FunctionCode* copy = copyOf(*place->function);
  return {copy->place.value + copy->blocks[place->index]};
}

// Whether all that they lead to can be reached.
bool PlacedCode::writeJumpTables(const FunctionCode& copy, std::span<std::byte> bytes,
                                 VirtAddr address) const {
  if (copy.jumpTables.empty()) return true;
  const IndirectTargets known(m_plan.program, *copy.function);
  bool reaches = true;
  for (const CopiedTable& copied : copy.jumpTables) {
    const JumpTable& table = copied.table;
    std::byte* out = bytes.data() + (copied.place.value - address.value);
    for (const VirtAddr target : table.targets) {
      const auto stub = std::ranges::lower_bound(copied.stubs, std::pair(target, std::uint32_t{0}));
      const bool byStub = stub != copied.stubs.end() && stub->first == target;
      const VirtAddr to = byStub ? VirtAddr{copy.place.value + stub->second} : placeOfTarget(target, known);
      const std::uint64_t entry = to.value - originOf(table);
      std::memcpy(out, &entry, entrySize(table.kind));
      reaches = reaches && (entrySize(table.kind) == 8 || std::int64_t(entry) == std::int32_t(entry));
      out += entrySize(table.kind);
    }
  }
  return reaches;
}

bool PlacedCode::write(std::span<std::byte> bytes, VirtAddr address, unsigned threads) {
  const auto at = [&](VirtAddr place) { return bytes.data() + (place.value - address.value); };
  std::atomic<bool> outOfReach = false;
  forEachIndex(m_copies.size(), threads, [&](std::size_t i) {
    FunctionCode& copy = m_copies[i];
    const bool reaches = link(copy.code, at(copy.place), copy.place, copy.references,
                              [&](const auto& reference) { return placeOf(reference, copy); });
    if (!reaches) outOfReach = true;
    copy.references = std::vector<CodeBuilder::Reference>();
    if (!writeJumpTables(copy, bytes, address)) outOfReach = true;
    if (!copy.hasTable) return;
    writeDispatchTable(*copy.function, std::int64_t(copy.place.value - copy.tablePlace.value), copy.blocks,
                       {at(copy.tablePlace), dispatchTableSize(*copy.function)});
  });
  if (!link(m_routines.code, at(m_routinesAt), m_routinesAt, m_routines.references,
            [](const auto& reference) { return reference.target; }))
    outOfReach = true;
  return !outOfReach;
}

}  // namespace traceback::instrument
