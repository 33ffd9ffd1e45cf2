#include "views/notes/annotations_panel.h"

#include <QKeyEvent>

#include "views/common/list_style.h"
#include "views/notes/annotations_model.h"
#include "views/trace/trace_delegate.h"

namespace traceback::views {

AnnotationsPanel::AnnotationsPanel(Navigator& navigator, Annotations& annotations, QWidget* parent)
    : QTreeView(parent),
      m_navigator(&navigator),
      m_annotations(&annotations),
      m_model(new AnnotationsModel(annotations, this)) {
  setObjectName(QStringLiteral("annotations"));
  setAccessibleName(tr("Bookmarks"));
  prepareList(this, m_model, AnnotationsModel::kText);
  setEditTriggers(QAbstractItemView::EditKeyPressed | QAbstractItemView::DoubleClicked);
  connect(this, &QTreeView::clicked, this, &AnnotationsPanel::jump);
  connect(this, &QTreeView::activated, this, &AnnotationsPanel::jump);
  connect(m_annotations, &Annotations::problemMet, this, &AnnotationsPanel::message);
  connect(m_annotations, &Annotations::aboutToTakeTrace, this, &AnnotationsPanel::finishEditing);
}

// As if Return had been pressed: the rows are about to be others.
void AnnotationsPanel::finishEditing() {
  QWidget* editor = state() == EditingState ? indexWidget(currentIndex()) : nullptr;
  if (editor == nullptr) return;
  commitData(editor);
  if (state() == EditingState) closeEditor(editor, QAbstractItemDelegate::NoHint);
}

QSize AnnotationsPanel::sizeHint() const { return {400, TraceDelegate::rowHeight() * 6}; }

void AnnotationsPanel::jump(const QModelIndex& index) {
  if (!index.isValid() || index.row() >= m_annotations->all().size()) return;
  const Annotation& note = m_annotations->all()[index.row()];
  if (!note.reachable()) {
    emit message(tr("What stands there now is something else: the note has lost its place."));
    return;
  }
  m_navigator->goTo(note.thread, note.entry, Navigator::Remember::Yes);
}

void AnnotationsPanel::toggleHere() {
  const auto entry = m_navigator->entryIndex();
  if (!entry) return;
  const model::ThreadIndex thread = m_navigator->threadIndex();
  const Annotation* note = m_annotations->at(thread, *entry);
  if (note != nullptr && !note->text.isEmpty()) {
    emit message(tr("A note is written here. In the list of bookmarks Delete takes it away."));
    return;
  }
  if (note != nullptr)
    return m_annotations->remove(static_cast<int>(note - m_annotations->all().constData()));
  m_annotations->set(thread, *entry, {});
}

void AnnotationsPanel::noteHere() {
  const auto entry = m_navigator->entryIndex();
  if (!entry) return;
  const model::ThreadIndex thread = m_navigator->threadIndex();
  if (m_annotations->at(thread, *entry) == nullptr) m_annotations->set(thread, *entry, {});
  const Annotation* note = m_annotations->at(thread, *entry);
  if (note == nullptr || m_annotations->isReadOnly()) return;
  emit wanted();
  const QModelIndex index =
      m_model->index(static_cast<int>(note - m_annotations->all().constData()), AnnotationsModel::kText);
  setFocus();
  setCurrentIndex(index);
  edit(index);
}

void AnnotationsPanel::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Delete && currentIndex().isValid())
    return m_annotations->remove(currentIndex().row());
  if (event->key() == Qt::Key_F2 && currentIndex().isValid())
    return edit(currentIndex().siblingAtColumn(AnnotationsModel::kText));
  QTreeView::keyPressEvent(event);
}

}  // namespace traceback::views
