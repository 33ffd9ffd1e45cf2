#include "tests/truth/second_decoder/unwind_checker.h"

#include <algorithm>
#include <format>

namespace traceback::truth {

namespace {

const UnwindRow& rowAt(const std::vector<UnwindRow>& rows, std::uint64_t address) {
  const auto after = std::ranges::upper_bound(rows, address, {}, &UnwindRow::from);
  return after == rows.begin() ? rows.front() : *std::prev(after);
}

// As unwinders look it up: the table is read from its start and left where it is past the address.
const CallSite* siteAt(const std::vector<CallSite>& sites, std::uint64_t address) {
  for (auto site = std::ranges::lower_bound(sites, address, {}, &CallSite::end); site != sites.end();
       ++site) {
    if (address < site->start) return nullptr;
    if (address < site->end) return &*site;
  }
  return nullptr;
}

// The general register, as x86 numbers it, by which the frame is found; -1 if there is none.
int frameRegister(const UnwindRow& row) {
  constexpr int kNumbers[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
  constexpr unsigned char kFirstBased = 0x70;  // DW_OP_breg0
  std::uint64_t number = row.cfaRegister;
  if (row.cfaIsExpression) {
    if (row.cfaExpression.empty()) return -1;
    number = std::uint64_t(std::uint8_t(row.cfaExpression[0])) - kFirstBased;
  }
  return number < std::size(kNumbers) ? kNumbers[number] : -1;
}

bool sameCie(const Cie& a, const Cie& b) {
  return a.augmentation == b.augmentation && a.codeAlign == b.codeAlign && a.dataAlign == b.dataAlign &&
         a.returnRegister == b.returnRegister && a.signalFrame == b.signalFrame &&
         a.personality == b.personality &&
         (a.personality == 0 || a.personalityEncoding == b.personalityEncoding);
}

}  // namespace

UnwindChecker::UnwindChecker(const ElfFile& original, const InstrumentedFile& file, Findings& findings)
    : m_before(UnwindTables::read(original)), m_after(UnwindTables::read(file.elf)), m_findings(findings) {
  if (!m_before) m_findings.add("original: " + m_before.error());
  if (!m_after) m_findings.add("instrumented: " + m_after.error());
  if (!m_before || !m_after) return;
  checkSearchTable();
  checkOldEntries();
}

bool UnwindChecker::sameEntry(const Fde& before, const Fde& after) const {
  return before.start == after.start && before.size == after.size && before.lsda == after.lsda &&
         sameCie(*before.cie, *after.cie) && std::ranges::equal(before.program, after.program) &&
         std::ranges::equal(before.cie->program, after.cie->program);
}

// All that the original says of its code is still said.
void UnwindChecker::checkOldEntries() {
  const auto& now = m_after->entries();
  for (const Fde& before : m_before->entries()) {
    const auto [first, last] = std::ranges::equal_range(now, before.start, {}, &Fde::start);
    if (std::none_of(first, last, [&](const Fde& after) { return sameEntry(before, after); }))
      m_findings.add(std::format("{:#x}: its unwind information is not what it was", before.start));
  }
}

// The search table has all entries, sorted.
void UnwindChecker::checkSearchTable() {
  const auto& table = m_after->searchTable();
  if (m_before->searchTable().empty() && table.empty()) return;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> expected, found = table;
  for (const Fde& fde : m_after->entries())
    if (fde.size != 0) expected.emplace_back(fde.start, fde.address);
  if (!std::ranges::is_sorted(table, {}, &std::pair<std::uint64_t, std::uint64_t>::first))
    m_findings.add("the search table of the unwind tables is not sorted");
  std::ranges::sort(found);
  std::ranges::sort(expected);
  for (const auto& entry : expected)
    if (!std::ranges::binary_search(found, entry))
      m_findings.add(std::format("{:#x} is not in the search table of the unwind tables", entry.first));
}

void UnwindChecker::check(const InstrumentedFunction& function, const std::vector<CopiedPlace>& places) {
  if (!m_before || !m_after || places.empty()) return;
  const auto wrong = [&](std::uint64_t at, const std::string& what) {
    m_findings.add(
        std::format("{} ({:#x}), copy at {:#x}: {}", function.name, function.entry.original, at, what));
  };
  const Fde* before = m_before->entryAt(function.entry.original);
  if (before == nullptr) return wrong(places[0].start, "a copy of what has no unwind information");
  const auto oldRows = m_before->rows(*before);
  if (!oldRows) return wrong(places[0].start, oldRows.error());
  std::vector<CallSite> oldSites, newSites;
  if (before->lsda != 0) {
    auto sites = m_before->callSites(*before);
    if (!sites) return wrong(places[0].start, sites.error());
    oldSites = std::move(*sites);
  }
  const Fde* after = nullptr;
  std::vector<UnwindRow> newRows;
  for (const CopiedPlace& place : places) {
    ++m_findings.unwound;
    if (after == nullptr || place.start - after->start >= after->size) {
      after = m_after->entryAt(place.start);
      if (after == nullptr) return wrong(place.start, "has no unwind information");
      if (!sameCie(*before->cie, *after->cie)) wrong(place.start, "is unwound in another way");
      if ((before->lsda == 0) != (after->lsda == 0))
        return wrong(place.start, "has an exception table, or has not, unlike the original");
      auto rows = m_after->rows(*after);
      if (!rows) return wrong(place.start, rows.error());
      newRows = std::move(*rows);
      if (after->lsda != 0) {
        auto sites = m_after->callSites(*after);
        if (!sites) return wrong(place.start, sites.error());
        newSites = std::move(*sites);
        if (!std::ranges::is_sorted(newSites, {}, &CallSite::start))
          return wrong(place.start, "its exception table is not sorted");
      }
    }
    if (place.end > after->start + after->size) return wrong(place.end, "runs past its unwind information");
    const UnwindRow& due = rowAt(*oldRows, place.original);
    for (std::uint64_t at = place.start; at < place.end;) {
      const UnwindRow& row = rowAt(newRows, at);
      if (!row.sameRules(due)) {
        wrong(at, std::format("unwound by {}, but {:#x} by {}", row.text(), place.original, due.text()));
        break;
      }
      const auto next = std::ranges::upper_bound(newRows, at, {}, &UnwindRow::from);
      at = next == newRows.end() ? place.end : next->from;
    }
    if (const int frame = frameRegister(due); frame >= 0 && ((place.scratch >> frame) & 1) != 0)
      wrong(place.start, "the probe changes the register by which the frame is found");
    if (before->lsda == 0) continue;
    const CallSite* oldSite = siteAt(oldSites, place.original);
    for (std::uint64_t at = place.start; at < place.end;) {
      const CallSite* site = siteAt(newSites, at);
      if ((site == nullptr) != (oldSite == nullptr)) {
        wrong(at, std::format("exceptions are {} here, unlike at {:#x}",
                              site == nullptr ? "fatal" : "let through", place.original));
        break;
      }
      if (site == nullptr) {
        const auto next = std::ranges::upper_bound(newSites, at, {}, &CallSite::start);
        at = next == newSites.end() ? place.end : next->start;
        continue;
      }
      if ((site->pad == 0) != (oldSite->pad == 0) || site->actions != oldSite->actions) {
        wrong(at, std::format("exceptions are caught otherwise than at {:#x}", place.original));
        break;
      }
      if (site->pad != 0) {
        const Pad pad{at, site->pad, oldSite->pad};
        if (m_pads.empty() || m_pads.back().copy != pad.copy || m_pads.back().original != pad.original)
          m_pads.push_back(pad);
      }
      at = site->end;
    }
  }
}

void UnwindChecker::checkRoutines(const Routines& routines) {
  if (!m_after) return;
  for (const auto& [start, routine] : routines.records) checkRoutine(start, routine.end);
  for (const auto& [start, routine] : routines.bits) checkRoutine(start, routine.end);
}

void UnwindChecker::checkRoutine(std::uint64_t start, std::uint64_t end) {
  const Fde* entry = m_after->entryAt(start);
  const auto rows =
      entry == nullptr ? std::unexpected(std::string("has no unwind information")) : m_after->rows(*entry);
  if (!rows) return m_findings.add(std::format("routine at {:#x}: {}", start, rows.error()));
  constexpr std::uint64_t kStackPointer = 7, kReturnAddress = 16;
  UnwindRow due;
  due.cfaRegister = kStackPointer;
  due.cfaOffset = 8;
  due.registers[kReturnAddress] = {UnwindRule::Kind::Offset, -8, {}};
  if (rows->size() != 1 || !rows->front().sameRules(due) || entry->lsda != 0 ||
      entry->start + entry->size < end)
    m_findings.add(std::format("routine at {:#x}: unwound by {}", start, rows->front().text()));
}

void UnwindChecker::checkPads(const CopyChecker& copies) {
  for (const Pad& pad : m_pads) {
    const std::uint64_t copy = copies.copyOf(pad.original);
    if (pad.copy != (copy != 0 ? copy : pad.original))
      m_findings.add(std::format("at {:#x}: exceptions go to {:#x}, not to the copy of {:#x}", pad.site,
                                 pad.copy, pad.original));
    if (copies.needsCursor(pad.original))
      m_findings.add(std::format("at {:#x}: exceptions go to {:#x}, which needs what they do not bring",
                                 pad.site, pad.copy));
  }
}

}  // namespace traceback::truth
