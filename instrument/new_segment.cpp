#include "instrument/new_segment.h"

#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <numeric>

#include "instrument/analysis/indirect_targets.h"
#include "instrument/analysis/text_getters.h"
#include "instrument/emit/dispatch.h"
#include "instrument/emit/load_routines.h"
#include "instrument/emit/routines.h"
#include "instrument/emit/table_jump.h"
#include "instrument/parallel.h"
#include "instrument/poison.h"
#include "instrument/unwind/unwind_builder.h"
#include "runtime/format/module.h"
#include "runtime/format/record.h"

namespace traceback::instrument {
namespace {

using model::fail;
using model::Result;

constexpr std::uint64_t kCodeAlignment = 16, kRoutineAlignment = 64, kTableAlignment = 4,
                        kJumpTableAlignment = 8;
constexpr std::byte kPadding{0xCC};
constexpr char kTableSection[] = ".traceback.tables";  // dispatch.h
constexpr char kModuleSection[] = ".traceback.module";  // the tables that the ModuleHeader leads to

std::uint64_t alignUp(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

class SegmentBuilder {
 public:
  SegmentBuilder(const Plan& plan, VirtAddr base, VirtAddr moduleSlots, const Options& options)
      : m_plan(plan),
        m_image(*plan.program.image),
        m_slots(moduleSlots),
        m_nullMode(options.nullMode || options.poison),
        m_poison(options.poison),
        m_keepCursor(!options.without.contains(kKeptCursor)),
        m_sharedHeads(!options.without.contains(kSharedHeads)),
        m_headsInPlace(!options.without.contains(kHeadsInPlace)),
        m_calledSlots(!options.without.contains(kCalledSlots)),
        m_jumpTables(!options.without.contains(kJumpTables)),
        m_threadSlot(options.threadSlot),
        m_threads(options.threads) {
    m_out.address = base;
  }

  Result<NewSegment> build(const Progress& progress) {
    emit(progress);
    if (progress) progress(0.75);
    if (auto done = encode(); !done) return std::unexpected(done.error());
    if (auto done = addUnwindTables(); !done) return std::unexpected(done.error());
    if (progress) progress(0.9);
    addModuleTable();
    addPatches();
    addSymbols();
    identify();
    return std::move(m_out);
  }

 private:
  VirtAddr end() const { return {m_out.address.value + m_out.bytes.size()}; }

  std::unexpected<model::Error> error(std::string message) const {
    return fail(std::move(message), m_image.path());
  }

  void emit(const Progress& progress) {
    std::optional<ConstantWords> words;
    if (m_jumpTables) words.emplace(m_image);
    const EmitOptions options{.probes = !m_nullMode,
                              .keepCursor = m_keepCursor,
                              .sharedHeads = m_sharedHeads,
                              .headsInPlace = m_headsInPlace,
                              .calledSlots = m_calledSlots,
                              .alwaysBound = m_poison,
                              .jumpTables = words ? &*words : nullptr,
                              .moduleSlots = m_slots,
                              .codeBase = m_plan.codeBase,
                              .threadSlot = m_threadSlot};
    const auto& functions = m_plan.program.functions;
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < functions.size(); ++i)
      if (functions[i].skip == format::SkipReason::None) chosen.push_back(i);
    m_copies.resize(chosen.size());
    forEachIndex(
        chosen.size(), m_threads,
        [&](std::size_t i) {
          m_copies[i] =
              emitFunction(m_plan.program, functions[chosen[i]], m_plan.windows[chosen[i]], options);
        },
        [&](double part) {
          if (progress) progress(0.5 + 0.2 * part);
        });
    RoutineSet routines;
    for (const FunctionCode& copy : m_copies) routines |= copy.routines;
    m_routines = emitRoutines(routines, m_slots, m_threadSlot);
    m_routinesAt = {alignUp(m_out.address.value + sizeof(format::ModuleHeader), kRoutineAlignment)};
    std::uint64_t at = alignUp(m_routinesAt.value + m_routines.code.size(), kCodeAlignment);
    m_out.copyStart = {at};
    m_byPlace.resize(m_copies.size());
    std::iota(m_byPlace.begin(), m_byPlace.end(), std::size_t{0});
    // What ran, as far as a profile knows, lies together.
    std::ranges::stable_partition(m_byPlace, [this](std::size_t i) { return m_copies[i].function->ran(); });
    for (const std::size_t i : m_byPlace) {
      if (!m_copies[i].function->isCold()) at = alignUp(at, kCodeAlignment);
      m_copies[i].place = {at};
      at += m_copies[i].code.size();
    }
    m_out.copyEnd = {alignUp(at, kCodeAlignment)};
    at = m_out.copyEnd.value;
    for (FunctionCode& copy : m_copies) {
      if (!copy.hasTable) continue;
      copy.tablePlace = {at};
      at += alignUp(dispatchTableSize(*copy.function), kTableAlignment);
    }
    for (FunctionCode& copy : m_copies) {
      for (CopiedTable& copied : copy.jumpTables) {
        const std::uint64_t size = entrySize(copied.table.kind);
        at = alignUp(at, size);
        copied.place = {at};
        at += copied.table.entries() * size;
      }
    }
    m_out.tablesEnd = {at};
  }

  const FunctionCode* copyOf(const Function& f) const {
    const auto it = std::ranges::lower_bound(m_copies, f.start, {},
                                             [](const FunctionCode& c) { return c.function->start; });
    return it != m_copies.end() && it->function == &f ? &*it : nullptr;
  }

  // The copy of an original address that other code may go to: the start of a block that is a head.
  std::optional<VirtAddr> copyAt(VirtAddr original) const {
    const Function* f = m_plan.program.functionAt(original);
    const FunctionCode* copy = f == nullptr ? nullptr : copyOf(*f);
    if (copy == nullptr) return std::nullopt;
    const BlockIndex b = f->blockAt(original);
    if (b == kNone || !f->blocks[b].head) return std::nullopt;
    return VirtAddr{copy->place.value + copy->blocks[b]};
  }

  VirtAddr placeOf(const CodeBuilder::Reference& reference, const FunctionCode& from) const {
    if (reference.routine) return {m_routinesAt.value + m_routines.offsets[reference.target.value]};
    if (reference.table) {
      return copyOf(*m_plan.program.functionStartingAt(reference.target))->tablePlace;
    }
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

  // Whether all that it refers to can be reached.
  template <typename PlaceOf>
  bool place(std::span<const std::byte> code, VirtAddr at, std::span<const CodeBuilder::Reference> references,
             PlaceOf placeOf) {
    std::byte* const out = m_out.bytes.data() + (at.value - m_out.address.value);
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

  // From where its entries count.
  static std::uint64_t originOf(const JumpTable& table) {
    return table.kind == JumpTable::Kind::Absolute ? 0 : table.original.value;
  }
  // Whether all that they lead to can be reached.
  bool writeJumpTables(const FunctionCode& copy) {
    if (copy.jumpTables.empty()) return true;
    const IndirectTargets known(m_plan.program, *copy.function);
    bool reaches = true;
    for (const CopiedTable& copied : copy.jumpTables) {
      const JumpTable& table = copied.table;
      std::byte* out = m_out.bytes.data() + (copied.place.value - m_out.address.value);
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
  // The copy of a place that an indirect jump leads to, or that itself.
  VirtAddr placeOfTarget(VirtAddr target, const IndirectTargets& known) const {
    const auto place = known.at(target);
    if (!place) return target;
    const FunctionCode* copy = copyOf(*place->function);
    return {copy->place.value + copy->blocks[place->index]};
  }

  Result<void> encode() {
    m_out.bytes.assign(m_out.copyEnd.value - m_out.address.value, kPadding);
    m_out.bytes.resize(m_out.tablesEnd.value - m_out.address.value);
    std::atomic<bool> outOfReach = false;
    forEachIndex(m_copies.size(), m_threads, [&](std::size_t i) {
      FunctionCode& copy = m_copies[i];
      const bool reaches = place(copy.code, copy.place, copy.references,
                                 [&](const auto& reference) { return placeOf(reference, copy); });
      if (!reaches) outOfReach = true;
      copy.references = {};
      if (!writeJumpTables(copy)) outOfReach = true;
      if (!copy.hasTable) return;
      const auto table = std::span(m_out.bytes).subspan(copy.tablePlace.value - m_out.address.value);
      writeDispatchTable(*copy.function, std::int64_t(copy.place.value - copy.tablePlace.value), copy.blocks,
                         table.first(dispatchTableSize(*copy.function)));
    });
    if (!place(m_routines.code, m_routinesAt, m_routines.references,
               [](const auto& reference) { return reference.target; }))
      outOfReach = true;
    if (outOfReach) return error("too large: code and its copy are more than 2 GiB apart");
    return {};
  }

  static Fragment fragmentOf(const FunctionCode& copy) {
    Fragment out;
    out.fde = std::uint32_t(copy.function->fde);
    for (std::size_t i = 0; i < copy.stretches.size(); ++i) {
      const Stretch& stretch = copy.stretches[i];
      const std::uint32_t end =
          i + 1 < copy.stretches.size() ? copy.stretches[i + 1].offset : std::uint32_t(copy.code.size());
      const VirtAddr original{copy.function->start.value + stretch.original};
      if (!out.pieces.empty() && out.pieces.back().original == original)
        out.pieces.back().copySize += end - stretch.offset;
      else
        out.pieces.push_back(
            {original, stretch.originalSize, copy.place.value + stretch.offset, end - stretch.offset});
    }
    return out;
  }

  Result<void> addUnwindTables() {
    const Fragments fragments{m_copies.size(),
                              [this](std::size_t number) { return fragmentOf(m_copies[number]); }};
    // A pad in a function that is not copied is caught there, untraced.
    const LandingPads pads = [this](VirtAddr original) -> std::optional<std::uint64_t> {
      return copyAt(original).value_or(original).value;
    };
    auto tables = buildUnwindTables(m_image, m_plan.program.ehFrame, fragments, pads,
                                    {m_routinesAt, m_routines.code.size()}, end());
    if (!tables) return std::unexpected(tables.error());
    const std::uint64_t codeSize = m_out.copyEnd.value - m_out.address.value;
    m_out.parts.push_back({format::kCodeSection, m_out.address, codeSize, true, kPageSize});
    if (const std::uint64_t size = m_out.tablesEnd.value - m_out.copyEnd.value; size != 0)
      m_out.parts.push_back({kTableSection, m_out.copyEnd, size, false, kJumpTableAlignment});
    const auto place = [this](const UnwindTable& table, const char* section, std::uint64_t alignment) {
      if (table.bytes.empty()) return;
      m_out.bytes.resize(table.address.value - m_out.address.value);
      m_out.bytes.insert(m_out.bytes.end(), table.bytes.begin(), table.bytes.end());
      m_out.parts.push_back({section, table.address, table.bytes.size(), false, alignment});
    };
    place(tables->header, ".eh_frame_hdr", 4);
    place(tables->exceptions, ".gcc_except_table", 4);
    place(tables->frame, ".eh_frame", 8);
    m_out.ehFrameHeader = tables->header.address;
    m_out.ehFrameHeaderSize = tables->header.bytes.size();
    return {};
  }

  std::uint32_t appendTable(std::span<const std::byte> bytes) {
    m_out.bytes.resize(alignUp(m_out.bytes.size(), 8));
    const auto offset = std::uint32_t(m_out.bytes.size());
    m_out.bytes.insert(m_out.bytes.end(), bytes.begin(), bytes.end());
    return offset;
  }

  std::vector<format::BroughtHead> broughtHeads() const {
    std::vector<format::BroughtHead> out;
    for (const std::size_t i : m_byPlace)
      for (const auto& [taken, reg] : m_copies[i].broughtHeads)
        out.push_back({std::uint32_t(m_copies[i].place.value) + taken,
                       std::uint32_t(m_routinesAt.value) + m_routines.offsets[loadRoutine(reg)]});
    return out;
  }

  void addModuleTable() {
    std::vector<format::AddressEntry> all;
    std::vector<std::uint32_t> fixups;
    for (const FunctionCode& copy : m_copies) {
      m_addresses.push_back(addressEntries(copy));
      for (const std::uint32_t record : copy.records)
        fixups.push_back(std::uint32_t(copy.place.value - m_out.address.value) + record);
    }
    for (const std::size_t i : m_byPlace) all.insert(all.end(), m_addresses[i].begin(), m_addresses[i].end());
    m_header.magic = format::kModuleMagic;
    const bool isUsual = m_threadSlot == format::kThreadSlot;
    m_header.version = isUsual ? format::kModuleVersionAtThreadSlot : format::kModuleVersion;
    m_header.threadSlot = isUsual ? 0 : m_threadSlot;
    m_header.headerSize = sizeof m_header;
    m_header.flags = m_plan.isKnown ? std::uint32_t(format::kModuleKnown) : 0;
    m_header.address = m_out.address.value;
    m_header.moduleSlots = m_slots.value;
    m_header.codeBase = m_plan.codeBase;
    m_header.codeSpan = m_plan.codeSpan;
    m_header.copyStart = m_out.copyStart.value;
    m_header.copyEnd = m_out.copyEnd.value;
    m_header.addressOffset = appendTable(std::as_bytes(std::span(all)));
    m_header.addressCount = std::uint32_t(all.size());
    m_header.fixupOffset = appendTable(std::as_bytes(std::span(fixups)));
    m_header.fixupCount = std::uint32_t(fixups.size());
    const auto placed = [this](auto& routines) {
      for (auto& routine : routines) routine.start += std::uint32_t(m_routinesAt.value);
      return appendTable(std::as_bytes(std::span(routines)));
    };
    m_header.routineOffset = placed(m_routines.records);
    m_header.routineCount = std::uint32_t(m_routines.records.size());
    m_header.bitRoutineOffset = placed(m_routines.bits);
    m_header.bitRoutineCount = std::uint32_t(m_routines.bits.size());
    m_header.loadRoutineOffset = placed(m_routines.loads);
    m_header.loadRoutineCount = std::uint32_t(m_routines.loads.size());
    const std::vector<format::BroughtHead> brought = broughtHeads();
    m_header.broughtHeadOffset = appendTable(std::as_bytes(std::span(brought)));
    m_header.broughtHeadCount = std::uint32_t(brought.size());
    const std::vector<format::TextGetter> getters = findTextGetters(m_plan.program);
    m_header.textGetterOffset = appendTable(std::as_bytes(std::span(getters)));
    m_header.textGetterCount = std::uint32_t(getters.size());
    const std::uint64_t start = m_header.addressOffset;
    m_out.parts.push_back(
        {kModuleSection, {m_out.address.value + start}, m_out.bytes.size() - start, false, 8});
  }

  void addPatches() {
    for (const FunctionCode& copy : m_copies) {
      if (!copy.window) continue;
      const std::uint64_t gate = copy.place.value + copy.gate;
      const auto distance = std::int32_t(gate - (copy.window->start.value + kEntryJumpSize));
      Patch patch{copy.window->start, std::vector<std::byte>(kEntryJumpSize)};
      patch.bytes[0] = std::byte{0xE9};
      std::memcpy(patch.bytes.data() + 1, &distance, sizeof distance);
      m_out.patches.push_back(std::move(patch));
    }
    if (m_poison) std::ranges::move(poison(m_plan), std::back_inserter(m_out.patches));
  }

  // As debug information has it: the name in a symbol may end in what the compiler did to the function,
  // ".isra.0", or in a number that makes it unique.
  static std::string_view plainName(std::string_view name) {
    for (;;) {
      const std::size_t dot = name.find_last_not_of("0123456789");
      if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size() || name[dot] != '.')
        return name;
      name = name.substr(0, dot);
      for (const std::string_view suffix : {".isra", ".constprop", ".part", ".lto_priv", ".llvm"})
        if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
    }
  }

  // A copy has its function's name from where all come that enter it, behind the entry's probe: so a debugger
  // that is told to stop in a function stops in both, and a profiler counts them as one. The gate and the
  // probe in front are told apart.
  void addSymbols() {
    for (const FunctionCode& copy : m_copies) {
      const std::string name(plainName(copy.function->name));
      if (name.empty()) continue;
      const std::uint32_t entry = copy.behindEntry;
      if (entry != 0) m_out.symbols.push_back({"gate." + name, copy.place, entry});
      m_out.symbols.push_back({name, {copy.place.value + entry}, copy.code.size() - entry});
    }
    if (!m_routines.code.empty() && !m_out.symbols.empty())
      m_out.symbols.push_back({"traceback.record", m_routinesAt, m_routines.code.size()});
  }

  // The map, and an id for both: whatever differs in either differs in it.
  void identify() {
    m_out.map = writeMap(m_plan.program, m_copies, m_addresses, m_plan.codeSpan, m_nullMode);
    XXH3_state_t* state = XXH3_createState();
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, m_out.bytes.data(), m_out.bytes.size());
    XXH3_128bits_update(state, m_out.map.data(), m_out.map.size());
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    XXH3_freeState(state);
    MapId id;
    std::memcpy(id.data(), canonical.digest, id.size());
    setMapId(m_out.map, id);
    std::memcpy(m_header.mapId, id.data(), id.size());
    std::memcpy(m_out.bytes.data(), &m_header, sizeof m_header);
  }

  const Plan& m_plan;
  const loader::ElfImage& m_image;
  VirtAddr m_slots;
  bool m_nullMode;
  bool m_poison;
  bool m_keepCursor, m_sharedHeads, m_headsInPlace, m_calledSlots, m_jumpTables;
  std::int32_t m_threadSlot;
  unsigned m_threads;
  NewSegment m_out;
  Routines m_routines;
  VirtAddr m_routinesAt;
  std::vector<FunctionCode> m_copies;  // by original address
  std::vector<std::size_t> m_byPlace;  // which of these stands where, in order
  std::vector<std::vector<format::AddressEntry>> m_addresses;
  format::ModuleHeader m_header{};
};

}  // namespace

Result<NewSegment> buildSegment(const Plan& plan, VirtAddr base, VirtAddr moduleSlots, const Options& options,
                                const Progress& progress) {
  return SegmentBuilder(plan, base, moduleSlots, options).build(progress);
}

}  // namespace traceback::instrument
