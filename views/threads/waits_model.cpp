#include "views/threads/waits_model.h"

#include <QFont>
#include <QGuiApplication>
#include <QHeaderView>
#include <QPalette>
#include <algorithm>

#include "views/common/flat_header.h"
#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/list_style.h"
#include "views/common/theme.h"
#include "views/trace/entry_text.h"
#include "views/trace/trace_delegate.h"

namespace traceback::views {

void WaitsModel::setTrace(std::shared_ptr<const model::Trace> trace) {
  beginResetModel();
  m_trace = std::move(trace);
  m_standings = m_trace ? model::standings(*m_trace) : std::vector<model::Standing>();
  endResetModel();
}

QString WaitsModel::name(model::ThreadIndex thread) const {
  return threadName(m_trace->threads[thread.value]->info(), thread.value + 1);
}

QString WaitsModel::doing(const model::Standing& standing) const {
  const model::ThreadTrace::Info& info = m_trace->threads[standing.thread.value]->info();
  if (info.atFault || info.fault) return tr("faulted");
  if (info.ended) return tr("had ended");
  if (!standing.systemCall) return {};
  const std::string_view known = model::systemCallName(*standing.systemCall);
  const QString call = known.empty() ? tr("system call %1").arg(*standing.systemCall)
                                     : QString::fromUtf8(known.data(), static_cast<qsizetype>(known.size()));
  return tr("in %1").arg(call);
}

QString WaitsModel::waitsFor(const model::Standing& standing) const {
  if (!standing.waitsFor) {
    return standing.waitsIn ? syncText(static_cast<std::uint32_t>(*standing.waitsIn)) : QString();
  }
  const QString other = QString::number(standing.waitsFor->value + 1);
  const QString text = standing.waitsForEnd ? tr("the end of thread %1").arg(other)
                                            : tr("a lock that thread %1 holds").arg(other);
  return standing.deadlocked ? tr("%1: deadlock").arg(text) : text;
}

QString WaitsModel::cell(const model::Standing& standing, int column) const {
  const model::ThreadTrace& thread = *m_trace->threads[standing.thread.value];
  switch (column) {
    case kThread:
      return name(standing.thread);
    case kWhere: {
      if (!standing.at) return tr("recorded nothing");
      const model::Entry entry = thread.entry(*standing.at);
      QString where = place(*m_trace, entry);
      if (!entry.function.valid()) return where;
      const QString function = shortFunctionName(*m_trace, entry.function);
      return where.isEmpty() ? function : QStringLiteral("%1  %2").arg(function, where);
    }
    case kSource:
      return standing.at ? EntryText(*m_trace, *m_sources).what(thread.entry(*standing.at), nullptr)
                         : QString();
    case kDoing:
      return doing(standing);
    case kFor:
      return standing.atMost ? tr("at most %1").arg(duration(standing.atMost->value)) : QString();
    case kWaitsFor:
      return waitsFor(standing);
    default:
      return {};
  }
}

QVariant WaitsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !m_trace) return {};
  const model::Standing& standing = this->standing(index.row());
  const Theme theme(QGuiApplication::palette());
  const bool alarming = index.column() == kWaitsFor && standing.deadlocked;
  switch (role) {
    case Qt::DisplayRole:
      return cell(standing, index.column());
    case Qt::AccessibleTextRole:
      return QStringLiteral("%1: %2").arg(
          headerData(index.column(), Qt::Horizontal, Qt::DisplayRole).toString(),
          cell(standing, index.column()));
    case Qt::DecorationRole:
      if (index.column() == kWaitsFor && standing.waitsFor)
        return icon(standing.deadlocked ? QStringLiteral("fault") : QStringLiteral("sync"),
                    standing.deadlocked ? theme.faultMark : theme.dimText);
      return {};
    case Qt::FontRole: {
      if (index.column() == kSource) return codeFont();
      QFont font;
      font.setBold(alarming);
      return alarming ? QVariant(font) : QVariant();
    }
    case Qt::ForegroundRole:
      if (alarming) return theme.faultMark;
      return index.column() == kThread || index.column() == kSource || index.column() == kWaitsFor
                 ? QVariant()
                 : QVariant(theme.dimText);
    case Qt::ToolTipRole:
      if (index.column() == kFor && standing.atMost)
        return tr("The last time that the clock was read is that long ago; the thread recorded this since.");
      return cell(standing, index.column());
    default:
      return {};
  }
}

WaitsPanel::WaitsPanel(Navigator& navigator, SourceCache& sources, QWidget* parent)
    : QTreeView(parent), m_navigator(&navigator), m_model(new WaitsModel(sources, this)) {
  setObjectName(QStringLiteral("waits"));
  setAccessibleName(tr("Where the threads stand"));
  setHeader(new FlatHeader(this));
  prepareList(this, m_model, WaitsModel::kSource);
  header()->show();
  connect(this, &QTreeView::clicked, this, &WaitsPanel::jump);
  connect(this, &QTreeView::activated, this, &WaitsPanel::jump);
  connect(m_navigator, &Navigator::traceChanged, this, [this] {
    m_stale = true;
    m_model->setTrace(nullptr);
    updateGeometry();
    if (isVisible()) showTrace();
  });
  connect(m_navigator, &Navigator::threadChanged, this, &WaitsPanel::showThread);
}

// A line a thread and one more, as many as there is room for beside other things.
QSize WaitsPanel::sizeHint() const {
  constexpr int kMostRows = 12;
  const auto& trace = m_navigator->trace();
  const int threads = trace ? static_cast<int>(std::min<std::size_t>(trace->threads.size(), kMostRows)) : 0;
  return {700, header()->sizeHint().height() + (TraceDelegate::rowHeight() + 1) * (std::max(threads, 2) + 1)};
}

void WaitsPanel::showEvent(QShowEvent* event) {
  QTreeView::showEvent(event);
  if (m_stale) showTrace();
}

void WaitsPanel::showTrace() {
  m_stale = false;
  m_model->setTrace(m_navigator->trace());
  showThread();
}

void WaitsPanel::showThread() {
  if (m_navigator->thread() != nullptr)
    setCurrentIndex(m_model->index(static_cast<int>(m_navigator->threadIndex().value), 0));
}

void WaitsPanel::jump(const QModelIndex& index) {
  if (!index.isValid()) return;
  const model::Standing& standing = m_model->standing(index.row());
  if (standing.at)
    m_navigator->goTo(standing.thread, *standing.at, Navigator::Remember::Yes);
  else
    m_navigator->goToThread(standing.thread);
}

}  // namespace traceback::views
