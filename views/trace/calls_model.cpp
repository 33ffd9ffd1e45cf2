#include "views/trace/calls_model.h"

#include <QGuiApplication>
#include <QPalette>

#include "views/common/formatting.h"
#include "views/common/theme.h"

namespace traceback::views {

void CallsModel::show(std::shared_ptr<const model::Trace> trace, model::ThreadIndex thread,
                      std::optional<model::EntryIndex> at) {
  const model::ThreadTrace* newThread =
      trace && thread.value < trace->threads.size() ? trace->threads[thread.value].get() : nullptr;
  beginResetModel();
  m_trace = std::move(trace);
  m_thread = newThread;
  m_calls.clear();
  if (m_thread != nullptr && at) {
    m_at = *at;
    m_calls = model::activeCalls(*m_thread, *at);
  }
  endResetModel();
}

std::optional<model::EntryIndex> CallsModel::position(int row) const {
  if (row < 0 || static_cast<std::size_t>(row) >= m_calls.size()) return std::nullopt;
  if (row == 0) return m_at;
  // The last line of the caller before the call that the row above stands for.
  const model::CallSpan& inner = m_calls[static_cast<std::size_t>(row) - 1];
  const model::CallSpan& own = m_calls[static_cast<std::size_t>(row)];
  const auto line = m_thread->previousAtMost(inner.call.value_or(inner.first), own.depth);
  if (!line || *line < own.first || m_thread->entry(*line).depth != own.depth) return std::nullopt;
  return line;
}

// The inlined call that the row above stands for, if it is known which line made it: that may have no code of
// its own.
std::optional<model::Entry> CallsModel::inlinedFrom(int row) const {
  if (row == 0) return std::nullopt;
  const auto& call = m_calls[static_cast<std::size_t>(row) - 1].call;
  if (!call) return std::nullopt;
  const model::Entry entry = m_thread->entry(*call);
  const bool isKnown = (entry.flags & model::kEntryInlined) != 0 && entry.line != 0;
  return isKnown ? std::optional(entry) : std::nullopt;
}

QVariant CallsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const model::CallSpan& call = m_calls[static_cast<std::size_t>(index.row())];
  const auto where = [this, &index] {
    if (const auto site = inlinedFrom(index.row())) return place(*m_trace, *site);
    const auto at = position(index.row());
    return at ? place(*m_trace, m_thread->entry(*at)) : QString();
  };
  const QString name = functionName(*m_trace, call.function);
  switch (role) {
    case Qt::DisplayRole:
      return index.column() == kFunction ? shortFunctionName(*m_trace, call.function) : where();
    case Qt::ToolTipRole:
      return where().isEmpty() ? name : QStringLiteral("%1\n%2").arg(name, where());
    case Qt::ForegroundRole:
      if (index.column() == kLine || !position(index.row())) return Theme(QGuiApplication::palette()).dimText;
      return {};
    default:
      return {};
  }
}

}  // namespace traceback::views
