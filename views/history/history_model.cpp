#include "views/history/history_model.h"

#include <algorithm>

#include "model/history_text.h"
#include "views/common/formatting.h"

namespace traceback::views {

namespace {

constexpr std::size_t kNamed = 4;  // functions in a stretch's row

QString shareText(std::uint64_t times, std::uint64_t counted) {
  const double percent =
      100.0 * static_cast<double>(times) / static_cast<double>(std::max<std::uint64_t>(counted, 1));
  return QStringLiteral("%1 %").arg(percent, 0, 'f', percent < 10 ? 1 : 0);
}

QString spanBetween(const model::Trace& trace, model::Ticks from, std::optional<model::Ticks> to) {
  const auto span = to ? model::timeBetween(trace, from, *to) : std::nullopt;
  return span ? QString::fromStdString(model::spanText(*span)) : QString();
}

}  // namespace

QString busiestText(const model::Trace& trace, const model::HistoryStretch& stretch) {
  QStringList names;
  const std::uint64_t counted = stretch.counted();
  for (std::size_t i = 0; i < std::min(kNamed, stretch.functions.size()); ++i) {
    const model::HistoryFunction& function = stretch.functions[i];
    names << HistoryModel::tr("%1 %2").arg(shortFunctionName(trace, function.function),
                                           shareText(function.times, counted));
  }
  if (stretch.functions.size() > kNamed)
    names << HistoryModel::tr("%1 more").arg(count(stretch.functions.size() - kNamed));
  return names.isEmpty() ? HistoryModel::tr("code that is not known") : names.join(QStringLiteral(", "));
}

void HistoryModel::show(std::shared_ptr<const model::Trace> trace, const model::ThreadTrace* thread) {
  beginResetModel();
  m_trace = std::move(trace);
  m_history = thread != nullptr ? thread->info().history : nullptr;
  m_end = m_trace ? model::endOfTrace(*m_trace) : std::nullopt;
  endResetModel();
}

const model::HistoryStretch* HistoryModel::stretch(int row) const {
  return row >= 0 && row < rows() ? &m_history->stretches[static_cast<std::size_t>(row)] : nullptr;
}

QVariant HistoryModel::data(const QModelIndex& index, int role) const {
  const model::HistoryStretch* shown = index.isValid() ? stretch(index.row()) : nullptr;
  if (shown == nullptr) return {};
  if (role == Qt::DisplayRole) return cell(*shown, index.column());
  if (role == Qt::ToolTipRole)
    return tr("%1 records were read, in %2 of the %3 parts of the ring that were filled in that time. What "
              "was "
              "not read is not known.")
        .arg(count(shown->sampled), count(shown->looked), count(shown->parts));
  return {};
}

QString HistoryModel::cell(const model::HistoryStretch& stretch, int column) const {
  switch (column) {
    case kWhen: {
      const QString time = timeOfDay(*m_trace, stretch.begin);
      return time.isEmpty() ? tr("not known") : time;
    }
    case kBefore: {
      const QString from = spanBetween(*m_trace, stretch.begin, m_end);
      const QString to = spanBetween(*m_trace, stretch.end, m_end);
      return from.isEmpty() || to.isEmpty() ? QString() : tr("%1 to %2").arg(from, to);
    }
    case kBusiest:
      return busiestText(*m_trace, stretch);
    default:
      return tr("%1 of %2 parts").arg(count(stretch.looked), count(stretch.parts));
  }
}

void HistoryPlacesModel::show(std::shared_ptr<const model::Trace> trace,
                              const model::HistoryStretch* stretch) {
  beginResetModel();
  m_trace = std::move(trace);
  m_rows.clear();
  m_counted = 1;
  if (stretch != nullptr) {
    m_counted = stretch->counted();
    for (const model::HistoryFunction& function : stretch->functions) {
      if (function.places.empty()) m_rows.push_back({&function, nullptr, function.times});
      for (const model::HistoryPlace& place : function.places)
        m_rows.push_back({&function, &place, place.times});
    }
    std::ranges::stable_sort(m_rows, std::ranges::greater(), &Row::times);
    if (stretch->unnamed != 0) m_rows.push_back({nullptr, nullptr, stretch->unnamed});
  }
  endResetModel();
}

std::optional<model::Entry> HistoryPlacesModel::code(int row) const {
  if (row < 0 || row >= rows()) return std::nullopt;
  const Row& shown = m_rows[static_cast<std::size_t>(row)];
  if (shown.place == nullptr) return std::nullopt;
  model::Entry entry;
  entry.module = shown.function->module;
  entry.function = shown.function->function;
  entry.file = shown.place->file;
  entry.line = shown.place->line;
  entry.address = entry.last = shown.place->address;
  return entry;
}

QVariant HistoryPlacesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rows()) return {};
  const Row& row = m_rows[static_cast<std::size_t>(index.row())];
  if (role == Qt::DisplayRole) return cell(row, index.column());
  if (role == Qt::TextAlignmentRole && (index.column() == kShare || index.column() == kTimes))
    return int(Qt::AlignRight | Qt::AlignVCenter);
  if (role == Qt::ToolTipRole && index.column() == kFunction && row.function != nullptr)
    return functionName(*m_trace, row.function->function);
  return {};
}

QString HistoryPlacesModel::cell(const Row& row, int column) const {
  switch (column) {
    case kShare:
      return shareText(row.times, m_counted);
    case kFunction:
      if (row.function == nullptr) return tr("other code");
      return shortFunctionName(*m_trace, row.function->function);
    case kPlace:
      return row.place != nullptr
                 ? QString::fromStdString(model::placeText(*m_trace, *row.function, *row.place))
                 : QString();
    case kKind:
      if (row.place == nullptr) return {};
      if (row.place->kind == model::HistoryPlace::Kind::Entry) return tr("called");
      return row.place->kind == model::HistoryPlace::Kind::Loop ? tr("loop") : QString();
    default:
      return count(row.times);
  }
}

}  // namespace traceback::views
