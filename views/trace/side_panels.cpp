#include "views/trace/side_panels.h"

#include <QScopedValueRollback>

#include "views/common/list_style.h"
#include "views/summary/notes_model.h"
#include "views/threads/threads_model.h"
#include "views/trace/calls_model.h"
#include "views/trace/trace_delegate.h"

namespace traceback::views {
ThreadsPanel::ThreadsPanel(Navigator& navigator, QWidget* parent)
    : QTreeView(parent), m_navigator(&navigator), m_model(new ThreadsModel(this)) {
  setObjectName(QStringLiteral("threads"));
  setAccessibleName(tr("Threads"));
  prepareList(this, m_model, ThreadsModel::kWhere);
  connect(this, &QTreeView::clicked, this, &ThreadsPanel::jump);
  connect(this, &QTreeView::activated, this, &ThreadsPanel::jump);
  connect(m_navigator, &Navigator::traceChanged, this, [this] { m_model->setTrace(m_navigator->trace()); });
  connect(m_navigator, &Navigator::threadChanged, this, &ThreadsPanel::showThread);
}

QSize ThreadsPanel::sizeHint() const {
  return {fontMetrics().horizontalAdvance(u'n') * 34, TraceDelegate::rowHeight() * 7};
}

void ThreadsPanel::showThread() {
  if (m_navigator->thread() == nullptr) return;
  setCurrentIndex(m_model->index(static_cast<int>(m_navigator->threadIndex().value), 0));
}

void ThreadsPanel::jump(const QModelIndex& index) {
  if (index.isValid()) m_navigator->goToThread({static_cast<std::uint32_t>(index.row())});
}

CallsPanel::CallsPanel(Navigator& navigator, QWidget* parent)
    : QTreeView(parent), m_navigator(&navigator), m_model(new CallsModel(this)) {
  setObjectName(QStringLiteral("calls"));
  setAccessibleName(tr("Active calls"));
  prepareList(this, m_model, CallsModel::kFunction);
  connect(this, &QTreeView::clicked, this, &CallsPanel::jump);
  connect(this, &QTreeView::activated, this, &CallsPanel::jump);
  connect(m_navigator, &Navigator::moved, this, &CallsPanel::showPosition);
}

QSize CallsPanel::sizeHint() const {
  return {fontMetrics().horizontalAdvance(u'n') * 34, TraceDelegate::rowHeight() * 14};
}

void CallsPanel::showPosition() {
  if (m_jumping) return;
  m_model->show(m_navigator->trace(), m_navigator->threadIndex(), m_navigator->entryIndex());
  if (m_model->rowCount() > 0) setCurrentIndex(m_model->index(0, 0));
}

void CallsPanel::jump(const QModelIndex& index) {
  const auto at = m_model->position(index.row());
  if (!at) return;
  const QScopedValueRollback guard(m_jumping, true);
  m_navigator->goTo(m_navigator->threadIndex(), *at, Navigator::Remember::Yes);
}

NotesPanel::NotesPanel(Navigator& navigator, QWidget* parent)
    : QTreeView(parent), m_model(new NotesModel(this)) {
  setObjectName(QStringLiteral("notes"));
  setAccessibleName(tr("Notes about this snap"));
  prepareList(this, m_model, NotesModel::kText);
  connect(&navigator, &Navigator::traceChanged, this,
          [this, &navigator] { m_model->setTrace(navigator.trace()); });
}

QSize NotesPanel::sizeHint() const { return {400, TraceDelegate::rowHeight() * 5}; }

}  // namespace traceback::views
