// What the window does with files beside the snap it shows: another one to compare with, what is exported,
// and what is remembered of each snap.

#include <QAbstractItemView>
#include <QAction>
#include <QComboBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QSaveFile>
#include <QTreeView>
#include <algorithm>
#include <utility>

#include "app/viewer/compare_window.h"
#include "app/viewer/export_dialog.h"
#include "app/viewer/incoming/incoming_panel.h"
#include "app/viewer/main_window.h"
#include "app/viewer/wizard/record_wizard.h"
#include "views/annotations_panel.h"
#include "views/code_pane.h"
#include "views/entry_text.h"
#include "views/filter_bar.h"
#include "views/formatting.h"
#include "views/trace_delegate.h"
#include "views/trace_pane.h"

namespace traceback::app {
namespace {

const QString kSnapFolder = QStringLiteral("incoming/folder");

}  // namespace

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

void MainWindow::watchIncoming() {
  for (IncomingPanel* panel : findChildren<IncomingPanel*>()) {
    connect(panel, &IncomingPanel::openRequested, this, &MainWindow::openFile);
    connect(panel, &IncomingPanel::folderRequested, this, &MainWindow::chooseSnapFolder);
    connect(panel, &IncomingPanel::message, this, &MainWindow::say);
  }
  connect(&m_incoming, &IncomingSnaps::arrived, this, [this](const QString& file) {
    const auto& snaps = m_incoming.snaps();
    const auto snap = std::ranges::find(snaps, file, &IncomingSnap::file);
    if (snap == snaps.end()) return;
    const QModelIndex row = m_incoming.index(static_cast<int>(snap - snaps.begin()), 0);
    say(tr("A snap has come in: %1, %2")
            .arg(row.data().toString(), row.siblingAtColumn(IncomingSnaps::kReason).data().toString()));
  });
  if (!m_remember) return;
  const QString chosen = m_settings.choice(kSnapFolder);
  m_incoming.setFolder(chosen.isEmpty() ? IncomingSnaps::defaultFolder() : chosen);
}

void MainWindow::chooseSnapFolder() {
  const QString folder =
      QFileDialog::getExistingDirectory(this, tr("Watch This Folder for Snaps"), m_incoming.folder());
  if (folder.isEmpty()) return;
  if (m_remember)
    m_settings.setChoice(kSnapFolder, folder == IncomingSnaps::defaultFolder() ? QString() : folder);
  m_incoming.setFolder(folder);
}

void MainWindow::openNewest() {
  const QString file = m_incoming.newest();
  if (file.isEmpty()) return say(tr("There is no snap in %1.").arg(m_incoming.folder()));
  openFile(file);
}

RecordWizard* MainWindow::recordProgram() {
  if (m_services.traceback.isEmpty()) {
    say(tr("The program traceback, which records, is neither beside this one nor in PATH."));
    return nullptr;
  }
  auto* wizard = findChild<RecordWizard*>();
  if (wizard == nullptr) {
    wizard = new RecordWizard(m_services.traceback, m_services.summary, this);
    wizard->setAttribute(Qt::WA_DeleteOnClose);
    connect(wizard, &RecordWizard::openRequested, this, &MainWindow::openFile);
  }
  wizard->show();
  wizard->raise();
  wizard->activateWindow();
  return wizard;
}

views::AnnotationsPanel* MainWindow::annotationsPanel() const {
  return m_panels->find<views::AnnotationsPanel>();
}

void MainWindow::keepSession() {
  const auto entry = m_navigator.entryIndex();
  if (!m_remember || m_shownFile.isEmpty() || !entry) return;
  const views::TraceFilter filter = m_traces->filterBar()->filter();
  m_settings.setSession(m_shownFile,
                        {{QStringLiteral("tid"), m_navigator.thread()->info().tid},
                         {QStringLiteral("entry"), static_cast<qulonglong>(*entry)},
                         {QStringLiteral("flat"), m_traces->mode() == views::TracePane::Mode::Flat},
                         {QStringLiteral("disassembly"), m_code->disassemblyAction()->isChecked()},
                         {QStringLiteral("module"),
                          filter.module ? m_traces->filterBar()->modules()->currentText() : QString()},
                         {QStringLiteral("function"), filter.function},
                         {QStringLiteral("file"), filter.file}});
}

void MainWindow::restoreSession() {
  const QVariantMap session = m_settings.session(m_shownFile);
  if (session.isEmpty()) return;
  if (!m_options.flat)
    m_traces->setMode(session[QStringLiteral("flat")].toBool() ? views::TracePane::Mode::Flat
                                                               : views::TracePane::Mode::Tree);
  if (!m_options.disassembly)
    m_code->disassemblyAction()->setChecked(session[QStringLiteral("disassembly")].toBool());
  views::FilterBar* bar = m_traces->filterBar();
  const QString module = session[QStringLiteral("module")].toString();
  const QString function = session[QStringLiteral("function")].toString(),
                file = session[QStringLiteral("file")].toString();
  if (!module.isEmpty() || !function.isEmpty() || !file.isEmpty()) {
    bar->open();
    m_traces->filterAction()->setChecked(true);
    if (const int at = bar->modules()->findText(module); at > 0) bar->modules()->setCurrentIndex(at);
    bar->function()->setText(function);
    bar->file()->setText(file);
  }
  const auto& threads = m_navigator.trace()->threads;
  const auto tid = session[QStringLiteral("tid")].toUInt();
  const auto entry = static_cast<model::EntryIndex>(session[QStringLiteral("entry")].toULongLong());
  for (std::uint32_t i = 0; i < threads.size(); ++i)
    if (threads[i]->info().tid == tid && entry < threads[i]->entryCount()) {
      m_navigator.goTo({i}, entry, views::Navigator::Remember::Yes);
      say(tr("Where you were last. The way back leads to where the snap opens."));
    }
}

}  // namespace traceback::app
