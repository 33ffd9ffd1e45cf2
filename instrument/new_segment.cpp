#include "instrument/new_segment.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "instrument/analysis/text_getters.h"
#include "instrument/emit/load_routines.h"
#include "instrument/placed_code.h"
#include "instrument/poison.h"
#include "instrument/rounding.h"
#include "instrument/unwind/unwind_builder.h"
#include "runtime/format/module.h"
#include "runtime/format/record.h"

namespace traceback::instrument {
namespace {

using model::fail;
using model::Result;

constexpr std::uint64_t kTableAlignment = 8;
constexpr std::byte kPadding{0xCC};
constexpr char kTableSection[] = ".traceback.tables";  // dispatch.h
constexpr char kModuleSection[] = ".traceback.module";  // the tables that the ModuleHeader leads to

class SegmentBuilder {
 public:
  SegmentBuilder(Plan& plan, VirtAddr base, VirtAddr moduleSlots, const Options& options,
                 const Progress& progress)
      : m_plan(plan),
        m_image(*plan.program.image),
        m_slots(moduleSlots),
        m_nullMode(options.nullMode || options.poison),
        m_poison(options.poison),
        m_threadSlot(options.threadSlot),
        m_threads(options.threads),
        m_code(plan, {base.value + sizeof(format::ModuleHeader)}, moduleSlots, options, [&](double part) {
          if (progress) progress(0.5 + 0.2 * part);
        }) {
    m_out.address = base;
    m_out.copyStart = m_code.copyStart();
    m_out.copyEnd = m_code.copyEnd();
    m_out.tablesEnd = m_code.tablesEnd();
  }

  Result<NewSegment> build(const Progress& progress) {
    if (progress) progress(0.75);
    if (auto done = encode(); !done) return std::unexpected(done.error());
    if (auto done = addUnwindTables(); !done) return std::unexpected(done.error());
    if (progress) progress(0.9);
    addModuleTable();
    m_code.letGoOfStretches();
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

  Result<void> encode() {
    m_out.bytes.assign(m_out.copyEnd.value - m_out.address.value, kPadding);
    m_out.bytes.resize(m_out.tablesEnd.value - m_out.address.value);
    if (!m_code.write(m_out.bytes, m_out.address, m_threads))
      return error("too large: code and its copy are more than 2 GiB apart");
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
    const Fragments fragments{m_code.copies().size(),
                              [this](std::size_t number) { return fragmentOf(m_code.copies()[number]); }};
    // A pad in a function that is not copied is caught there, untraced.
    const LandingPads pads = [this](VirtAddr original) -> std::optional<std::uint64_t> {
      return m_code.copyAt(original).value_or(original).value;
    };
    auto tables = buildUnwindTables(m_image, m_plan.program.ehFrame, fragments, pads,
                                    {m_code.routinesAt(), m_code.routines().code.size()}, end());
    if (!tables) return std::unexpected(tables.error());
    const std::uint64_t codeSize = m_out.copyEnd.value - m_out.address.value;
    m_out.parts.push_back({format::kCodeSection, m_out.address, codeSize, true, kPageSize});
    if (const std::uint64_t size = m_out.tablesEnd.value - m_out.copyEnd.value; size != 0)
      m_out.parts.push_back({kTableSection, m_out.copyEnd, size, false, kTableAlignment});
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
    m_out.bytes.resize(roundedUp(m_out.bytes.size(), 8));
    const auto offset = std::uint32_t(m_out.bytes.size());
    m_out.bytes.insert(m_out.bytes.end(), bytes.begin(), bytes.end());
    return offset;
  }

  std::vector<format::BroughtHead> broughtHeads() const {
    std::vector<format::BroughtHead> out;
    for (const std::size_t i : m_code.byPlace())
      for (const auto& [taken, reg] : m_code.copies()[i].broughtHeads)
        out.push_back(
            {std::uint32_t(m_code.copies()[i].place.value) + taken,
             std::uint32_t(m_code.routinesAt().value) + m_code.routines().offsets[loadRoutine(reg)]});
    return out;
  }

  void addModuleTable() {
    std::vector<format::AddressEntry> all;
    std::vector<std::uint32_t> fixups;
    std::size_t addresses = 0;
    m_addresses.reserve(m_code.copies().size());
    for (const FunctionCode& copy : m_code.copies()) {
      addresses += m_addresses.emplace_back(addressEntries(copy)).size();
      for (const std::uint32_t record : copy.records)
        fixups.push_back(std::uint32_t(copy.place.value - m_out.address.value) + record);
    }
    all.reserve(addresses);
    for (const std::size_t i : m_code.byPlace())
      all.insert(all.end(), m_addresses[i].begin(), m_addresses[i].end());
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
    const auto placed = [this](auto routines) {
      for (auto& routine : routines) routine.start += std::uint32_t(m_code.routinesAt().value);
      return appendTable(std::as_bytes(std::span(routines)));
    };
    m_header.routineOffset = placed(m_code.routines().records);
    m_header.routineCount = std::uint32_t(m_code.routines().records.size());
    m_header.bitRoutineOffset = placed(m_code.routines().bits);
    m_header.bitRoutineCount = std::uint32_t(m_code.routines().bits.size());
    m_header.loadRoutineOffset = placed(m_code.routines().loads);
    m_header.loadRoutineCount = std::uint32_t(m_code.routines().loads.size());
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
    for (const FunctionCode& copy : m_code.copies()) {
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
    for (const FunctionCode& copy : m_code.copies()) {
      const std::string name(plainName(copy.function->name));
      if (name.empty()) continue;
      const std::uint32_t entry = copy.behindEntry;
      if (entry != 0) m_out.symbols.push_back({"gate." + name, copy.place, entry});
      m_out.symbols.push_back({name, {copy.place.value + entry}, copy.code.size() - entry});
    }
    if (!m_code.routines().code.empty() && !m_out.symbols.empty())
      m_out.symbols.push_back({"traceback.record", m_code.routinesAt(), m_code.routines().code.size()});
  }

  // The map, and an id for both: whatever differs in either differs in it.
  void identify() {
    m_out.map = writeMap(m_plan.program, m_code.copies(), m_code.blockEntries(), m_addresses, m_plan.codeSpan,
                         m_nullMode);
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
  std::int32_t m_threadSlot;
  unsigned m_threads;
  PlacedCode m_code;
  NewSegment m_out;
  std::vector<std::vector<format::AddressEntry>> m_addresses;
  format::ModuleHeader m_header{};
};

}  // namespace

Result<NewSegment> buildSegment(Plan& plan, VirtAddr base, VirtAddr moduleSlots, const Options& options,
                                const Progress& progress) {
  return SegmentBuilder(plan, base, moduleSlots, options, progress).build(progress);
}

}  // namespace traceback::instrument
