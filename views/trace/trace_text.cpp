#include "views/trace/trace_text.h"

#include <QAbstractItemView>
#include <QCoreApplication>
#include <QHeaderView>
#include <QStringList>
#include <algorithm>
#include <limits>

#include "model/text_format.h"
#include "views/common/formatting.h"
#include "views/moving/navigator.h"
#include "views/trace/entry_text.h"

namespace traceback::views {

QString selectedRowsText(const QAbstractItemView& view, const QHeaderView& header, bool isTree) {
  const auto path = [](QModelIndex index) {
    QList<int> rows;
    for (; index.isValid(); index = index.parent()) rows.prepend(index.row());
    return rows;
  };
  QModelIndexList selected = view.selectionModel()->selectedRows(0);
  std::ranges::sort(selected, [&path](const QModelIndex& a, const QModelIndex& b) {
    return std::ranges::lexicographical_compare(path(a), path(b));
  });
  qsizetype least = std::numeric_limits<qsizetype>::max();
  for (const QModelIndex& row : selected) least = std::min(least, path(row).size());
  QString text;
  for (const QModelIndex& row : selected) {
    QStringList cells;
    for (int visual = 0; visual < header.count(); ++visual) {
      const int column = header.logicalIndex(visual);
      if (header.isSectionHidden(column)) continue;
      const QModelIndex cell = row.siblingAtColumn(column);
      QString words = cell.data().toString();
      if (const QString detail = cell.data(kDetailRole).toString(); !detail.isEmpty())
        words += QStringLiteral(" (%1)").arg(detail);
      if (isTree && column == kWhatColumn) words.prepend(QString(2 * (path(row).size() - least), u' '));
      cells.append(words);
    }
    while (!cells.isEmpty() && cells.last().isEmpty()) cells.removeLast();
    text += cells.join(u'\t') + u'\n';
  }
  return text;
}

QString wholeCallText(const Navigator& navigator) {
  constexpr model::EntryIndex kMost = 100'000;
  const model::ThreadTrace* thread = navigator.thread();
  const auto at = navigator.entryIndex();
  if (thread == nullptr || !at) return {};
  const std::vector<model::CallSpan> calls = model::activeCalls(*thread, *at);
  if (calls.empty()) return {};
  const model::CallSpan& call = calls.front();
  const model::EntryIndex first = call.call.value_or(call.first);
  const model::EntryIndex end = std::min(call.end, first + kMost);
  std::string text;
  for (const model::Entry& entry : thread->entries(first, static_cast<std::size_t>(end - first))) {
    // A call stands in its caller.
    const std::int32_t level = entry.depth - call.depth + (entry.kind == model::EntryKind::Call ? 0 : 1);
    text.append(static_cast<std::size_t>(std::clamp(level, 0, 200)) * 2, ' ');
    text += model::entryText(*navigator.trace(), entry) + '\n';
  }
  QString whole = QString::fromStdString(text);
  if (end < call.end)
    whole += QCoreApplication::translate("traceback::views::TracePane", "%1 more entries")
                 .arg(count(call.end - end)) +
             u'\n';
  return whole;
}

}  // namespace traceback::views
