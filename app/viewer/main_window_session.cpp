// What is kept of a snap that is closed, for when it is opened again.

#include <QAction>
#include <QComboBox>
#include <QLineEdit>

#include "app/viewer/main_window.h"
#include "views/source/code_pane.h"
#include "views/trace/filter_bar.h"
#include "views/trace/trace_pane.h"

namespace traceback::app {

void MainWindow::keepSession() {
  const auto entry = m_navigator.entryIndex();
  if (!m_remember || m_isPart || m_shownFile.isEmpty() || !entry) return;
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
