#include "views/trace/trace_header.h"

#include <QDataStream>
#include <QGuiApplication>
#include <QIODevice>
#include <QMenu>
#include <QScopedValueRollback>
#include <algorithm>

#include "views/trace/flat_model.h"

namespace traceback::views {
namespace {

constexpr int kLeastNotes = 20, kMostNotes = 60;  // letters

}  // namespace

TraceHeader::TraceHeader(int notesPercent, QWidget* parent)
    : FlatHeader(parent), m_notesPercent(notesPercent) {
  setSectionsMovable(true);
  setFirstSectionMovable(true);
  setHighlightSections(false);
  setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  setStretchLastSection(false);
  setMinimumSectionSize(60);
  setContextMenuPolicy(Qt::CustomContextMenu);
  connect(this, &QWidget::customContextMenuRequested, this, &TraceHeader::askForColumns);
  connect(this, &QHeaderView::sectionResized, this, [this](int column) {
    if (column == kNoteColumn && !m_sharing && QGuiApplication::mouseButtons() != Qt::NoButton)
      m_notesChosen = true;
  });
}

void TraceHeader::setUp(const QList<int>& shown) {
  setSectionResizeMode(QHeaderView::Interactive);
  setSectionResizeMode(kWhatColumn, QHeaderView::Stretch);
  for (int column = 0; column < kTraceColumnCount; ++column)
    setSectionHidden(column, !shown.contains(column));
  for (qsizetype i = 0; i < shown.size(); ++i) moveSection(visualIndex(shown[i]), static_cast<int>(i));
}

void TraceHeader::applyFont() {
  const int unit = fontMetrics().horizontalAdvance(u'n');
  resizeSection(kPlaceColumn, 18 * unit);
  resizeSection(kFunctionColumn, 22 * unit);
  resizeSection(kThreadColumn, 12 * unit);
  resizeSection(kTimeColumn, 16 * unit);
  resizeSection(kModuleColumn, 14 * unit);
  resizeSection(kFileColumn, 28 * unit);
  resizeSection(kDepthColumn, 7 * unit);
  shareWidth();
}

void TraceHeader::shareWidth() {
  const QScopedValueRollback guard(m_sharing, true);
  const int unit = fontMetrics().horizontalAdvance(u'n');
  if (!m_notesChosen && count() > kNoteColumn)
    resizeSection(kNoteColumn,
                  std::clamp(width() * m_notesPercent / 100, kLeastNotes * unit, kMostNotes * unit));
}

void TraceHeader::resizeEvent(QResizeEvent* event) {
  FlatHeader::resizeEvent(event);
  shareWidth();
}

void TraceHeader::askForColumns(const QPoint& at) {
  QMenu menu(this);
  for (int column = kPlaceColumn; column < kTraceColumnCount; ++column) {
    QAction* action = menu.addAction(traceColumnTitle(column));
    action->setCheckable(true);
    action->setChecked(!isSectionHidden(column));
    connect(action, &QAction::toggled, this, [this, column](bool on) { setSectionHidden(column, !on); });
  }
  menu.exec(mapToGlobal(at));
}

QByteArray TraceHeader::state() const {
  QByteArray bytes;
  QDataStream stream(&bytes, QIODevice::WriteOnly);
  stream << saveState() << m_notesChosen;
  return bytes;
}

void TraceHeader::restore(const QByteArray& state) {
  QDataStream stream(state);
  QByteArray sections;
  bool chosen = false;
  stream >> sections >> chosen;
  if (stream.status() != QDataStream::Ok || !restoreState(sections)) return;
  m_notesChosen = chosen;
  shareWidth();
}

}  // namespace traceback::views
