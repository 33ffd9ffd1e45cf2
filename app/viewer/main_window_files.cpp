// What the window does with files beside the snap it shows: another one to compare with, what is exported,
// and the user's notes.

#include <QAbstractItemView>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QItemSelectionModel>
#include <QSaveFile>
#include <QTreeView>
#include <algorithm>
#include <utility>

#include "app/viewer/compare_window.h"
#include "app/viewer/export_dialog.h"
#include "app/viewer/main_window.h"
#include "views/common/formatting.h"
#include "views/history/history_panel.h"
#include "views/notes/annotations_panel.h"
#include "views/source/code_pane.h"
#include "views/trace/entry_text.h"
#include "views/trace/trace_delegate.h"
#include "views/trace/trace_pane.h"

namespace traceback::app {

void MainWindow::askForComparison() {
  if (!m_navigator.trace()) return say(tr("Open the snap of the bad run first."));
  const QString good = QFileDialog::getOpenFileName(this, tr("Compare With the Snap of a Good Run"), {},
                                                    tr("TraceBack snaps (*.tbsnap);;All files (*)"));
  if (!good.isEmpty()) compareWith(good)->show();
}

CompareWindow* MainWindow::compareWith(const QString& good) {
  auto* window = new CompareWindow(m_services, sourceMappings(), m_remember, this);
  window->setAttribute(Qt::WA_DeleteOnClose);
  window->setTrace(model::Side::Right, m_navigator.trace(), m_shownFile);
  window->load(model::Side::Left, good);
  return window;
}

std::optional<model::ExportRange> MainWindow::selectedRange() const {
  std::optional<model::ExportRange> range;
  for (const QModelIndex& row : m_traces->currentView()->selectionModel()->selectedRows()) {
    const QVariant entry = row.data(views::kEntryRole);
    if (!entry.isValid()) continue;
    const auto at = static_cast<model::EntryIndex>(entry.toULongLong());
    if (!range) range = {m_navigator.threadIndex(), at, at + 1};
    range->first = std::min(range->first, at);
    range->end = std::max(range->end, at + 1);
  }
  return range;
}

void MainWindow::askForExport() {
  const auto trace = m_navigator.trace();
  if (!trace || trace->threads.empty()) return say(tr("There is no trace to export."));
  std::vector<ExportDialog::Scope> scopes;
  scopes.push_back({tr("This thread"), {model::wholeThread(*trace, m_navigator.threadIndex())}});
  std::vector<model::ExportRange> all;
  for (std::uint32_t i = 0; i < trace->threads.size(); ++i) all.push_back(model::wholeThread(*trace, {i}));
  scopes.push_back({tr("All threads"), std::move(all)});
  if (const auto range = selectedRange(); range && range->end - range->first > 1)
    scopes.push_back({tr("From the first to the last selected row (%1 entries)")
                          .arg(views::count(range->end - range->first)),
                      {*range}});
  ExportDialog dialog(std::move(scopes), this);
  if (dialog.exec() != QDialog::Accepted) return;
  const QString name = QFileInfo(m_shownFile).completeBaseName() + dialog.suffix();
  const QString file = QFileDialog::getSaveFileName(this, tr("Export"), name, dialog.nameFilter());
  if (!file.isEmpty()) exportTo(file, dialog.format(), dialog.ranges());
}

void MainWindow::exportTo(const QString& file, model::ExportFormat format,
                          const std::vector<model::ExportRange>& ranges) {
  say(tr("Exporting\u2026"));
  auto error = std::make_shared<QString>();
  // Sources of its own: it runs beside the window.
  auto sources = std::make_shared<views::SourceCache>();
  sources->setTrace(m_navigator.trace());
  if (m_services.sources) sources->setProvider(m_services.sources(sourceMappings()));
  m_exporting.start(
      [=, trace = m_navigator.trace()](std::stop_token stop) {
        const auto line = [&](const model::SourceFile& source, std::uint32_t number) {
          const auto id = static_cast<std::uint32_t>(&source - trace->files.data());
          return sources->line({id}, number).toStdString();
        };
        QSaveFile out(file);
        bool good = out.open(QIODevice::WriteOnly) &&
                    model::exportTrace(
                        *trace, ranges, format, line,
                        [&out](std::string_view piece) {
                          return out.write(piece.data(), static_cast<qint64>(piece.size())) ==
                                 static_cast<qint64>(piece.size());
                        },
                        std::move(stop));
        good = good && out.commit();
        if (!good) *error = out.errorString();
      },
      [this, file, error] {
        say(error->isEmpty() ? tr("Exported to %1").arg(file)
                             : tr("%1: cannot be written: %2").arg(file, *error));
        emit exported(*error);
      });
}

void MainWindow::watchAnnotations() {
  m_code->setAnnotations(&m_annotations);
  auto* panel = annotationsPanel();
  connect(panel, &views::AnnotationsPanel::message, this, &MainWindow::say);
  connect(panel, &views::AnnotationsPanel::wanted, m_panels->dockOf(panel), &QWidget::show);
  const auto noteAt = [this](model::EntryIndex entry) -> std::optional<QString> {
    const views::Annotation* note = m_annotations.at(m_navigator.threadIndex(), entry);
    return note != nullptr && note->reachable() ? std::optional(note->text) : std::nullopt;
  };
  if (auto* delegate = qobject_cast<views::TraceDelegate*>(m_traces->treeView()->itemDelegate()))
    delegate->setNotes(noteAt);
  connect(&m_annotations, &views::Annotations::changed, m_traces,
          [this] { m_traces->currentView()->viewport()->update(); });
}

void MainWindow::watchHistory() {
  const auto* panel = m_panels->find<views::HistoryPanel>();
  connect(panel, &views::HistoryPanel::codeRequested, m_code, &views::CodePane::lookAt);
  connect(m_traces, &views::TracePane::historyRequested, this, [this, panel] {
    QDockWidget* dock = m_panels->dockOf(panel);
    dock->show();
    dock->raise();
  });
}

views::AnnotationsPanel* MainWindow::annotationsPanel() const {
  return m_panels->find<views::AnnotationsPanel>();
}

}  // namespace traceback::app
