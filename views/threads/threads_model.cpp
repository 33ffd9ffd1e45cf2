#include "views/threads/threads_model.h"

#include <QFont>

#include "model/stepping.h"
#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/theme.h"

#include <QGuiApplication>
#include <QPalette>

namespace traceback::views {

void ThreadsModel::setTrace(std::shared_ptr<const model::Trace> trace) {
  beginResetModel();
  m_trace = std::move(trace);
  m_where.assign(m_trace ? m_trace->threads.size() : 0, std::nullopt);
  endResetModel();
}

QString ThreadsModel::state(const model::ThreadTrace::Info& info) const {
  if (info.atFault)
    return m_trace->summary.faultSignal() != 0 ? signalName(m_trace->summary.faultSignal()) : tr("at fault");
  if (info.fault) return tr("faulted");
  return info.ended ? tr("ended") : QString();
}

QString ThreadsModel::where(std::size_t thread) const {
  if (!m_where[thread]) {
    const model::ThreadTrace& trace = *m_trace->threads[thread];
    const auto position = model::initialPosition(trace);
    if (!position) {
      m_where[thread] = tr("recorded nothing");
    } else {
      const model::Entry entry = trace.entry(*position);
      m_where[thread] =
          entry.function.valid() ? shortFunctionName(*m_trace, entry.function) : place(*m_trace, entry);
    }
  }
  return *m_where[thread];
}

QVariant ThreadsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !m_trace) return {};
  const auto row = static_cast<std::size_t>(index.row());
  const model::ThreadTrace::Info& info = m_trace->threads[row]->info();
  switch (role) {
    case Qt::DisplayRole:
      if (index.column() == kName) return threadName(info, row + 1);
      return index.column() == kState ? state(info) : where(row);
    case Qt::DecorationRole:
      if (index.column() != kName) return {};
      if (info.atFault || info.fault)
        return icon(QStringLiteral("fault"), Theme(QGuiApplication::palette()).faultMark);
      return icon(info.ended ? QStringLiteral("thread-ended") : QStringLiteral("thread"),
                  Theme(QGuiApplication::palette()).text);
    case Qt::FontRole:
      if (index.column() == kState && (info.atFault || info.fault)) {
        QFont font;
        font.setBold(true);
        return font;
      }
      return {};
    case Qt::ForegroundRole:
      if (index.column() == kState && (info.atFault || info.fault))
        return Theme(QGuiApplication::palette()).faultMark;
      if (index.column() == kWhere) return Theme(QGuiApplication::palette()).dimText;
      return {};
    case Qt::ToolTipRole:
      return tr("Thread %1, tid %2, %3 entries, last in %4")
          .arg(threadName(info, row + 1))
          .arg(info.tid)
          .arg(count(m_trace->threads[row]->entryCount()), where(row));
    case Qt::AccessibleTextRole:
      if (index.column() != kName) return data(index, Qt::DisplayRole);
      return info.atFault || info.fault ? tr("%1, at fault: %2").arg(threadName(info, row + 1), state(info))
                                        : threadName(info, row + 1);
    default:
      return {};
  }
}

}  // namespace traceback::views
