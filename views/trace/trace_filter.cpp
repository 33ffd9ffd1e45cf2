#include "views/trace/trace_filter.h"

#include <algorithm>

#include "model/stepping.h"

namespace traceback::views {
namespace {

// Entries of a call that are looked through for one that is shown.
constexpr model::EntryIndex kLookThrough = 512;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e37'79b9'7f4a'7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51'afd7'ed55'8ccd;
}

}  // namespace

RowRules::RowRules(const model::Trace& trace, const model::ThreadTrace& thread, const TraceFilter& filter,
                   bool fold)
    : m_thread(&thread),
      m_fold(fold),
      m_filters(filter.any()),
      m_module(filter.module),
      m_byFunction(!filter.function.isEmpty()),
      m_byFile(!filter.file.isEmpty()) {
  const auto holds = [](const std::string& text, const QString& part) {
    return QString::fromStdString(text).contains(part, Qt::CaseInsensitive);
  };
  if (m_byFunction)
    for (const model::Function& function : trace.functions)
      m_functions.push_back(holds(function.name, filter.function));
  if (m_byFile)
    for (const model::SourceFile& file : trace.files) m_files.push_back(holds(file.path, filter.file));
}

bool RowRules::shows(const model::Entry& entry) const {
  if (!m_filters || (entry.flags & model::kEntryFault) != 0) return true;
  if (model::isSteppable(entry.kind) && entry.kind != model::EntryKind::Line) return true;
  if (m_module && entry.module != *m_module) return false;
  if (m_byFunction && !(entry.function.value < m_functions.size() && m_functions[entry.function.value]))
    return false;
  return !m_byFile || (entry.file.value < m_files.size() && m_files[entry.file.value]);
}

bool RowRules::showsCall(const model::CallSpan& call) const {
  if (!m_filters) return true;
  if (call.call && shows(m_thread->entry(*call.call))) return true;
  const auto fault = m_thread->info().fault;
  if (fault && *fault >= call.first && *fault < call.end) return true;
  if (call.end - call.first > kLookThrough) return true;
  const auto entries = m_thread->entries(call.first, static_cast<std::size_t>(call.end - call.first));
  return std::ranges::any_of(entries, [this](const model::Entry& entry) { return shows(entry); });
}

std::uint64_t RowRules::key(const model::Entry& entry) const {
  const bool event = model::isSteppable(entry.kind) && entry.kind != model::EntryKind::Line;
  if (event || entry.kind == model::EntryKind::Sync || (entry.flags & model::kEntryFault) != 0) return 0;
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(entry.kind), entry.flags);
  hash = mixed(hash, static_cast<std::uint32_t>(entry.depth));
  hash = mixed(hash, entry.function.value);
  hash = mixed(hash, entry.module.value);
  hash = mixed(hash, entry.file.value);
  hash = mixed(hash, entry.line != 0 ? entry.line : entry.address.value);
  return std::max<std::uint64_t>(hash, 1);
}

std::uint64_t RowRules::key(const model::CallSpan& call) const {
  const auto fault = m_thread->info().fault;
  const bool faulted = fault && *fault >= call.first && *fault < call.end;
  // One that was not seen to begin or to end is not like others.
  if (faulted || !call.call || !call.finished || !call.function.valid()) return 0;
  return std::max<std::uint64_t>(mixed(mixed(0xca11, m_thread->entry(*call.call).flags), call.function.value),
                                 1);
}

}  // namespace traceback::views
