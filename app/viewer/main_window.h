// The window: the panes of views/ around one navigator, and the way from a file to a trace in them.
#pragma once

#include <QMainWindow>
#include <functional>
#include <memory>

#include "app/viewer/incoming/incoming_snaps.h"
#include "app/viewer/layouts.h"
#include "app/viewer/load_job.h"
#include "app/viewer/options.h"
#include "app/viewer/panels.h"
#include "app/viewer/services.h"
#include "app/viewer/settings.h"
#include "app/viewer/shortcuts.h"
#include "model/export/trace_export.h"
#include "views/common/background_job.h"
#include "views/moving/navigator.h"
#include "views/notes/annotations.h"
#include "views/source/code_provider.h"
#include "views/source/source_cache.h"
#include "views/values/end_values.h"

class QActionGroup;
class QDockWidget;
class QLabel;
class QMenu;
class QSplitter;
class QStackedWidget;

namespace traceback::views {
class AnnotationsPanel;
class AnswersPanel;
class CallsPanel;
class CodePane;
class SearchBox;
class SummaryStrip;
class ThreadsPanel;
class TracePane;
}  // namespace traceback::views

namespace traceback::app {

class CompareWindow;
class ErrorPage;
class LoadingNote;
class LoadingPage;
class RecordWizard;
class SeekActions;
class StepActions;
class WelcomePage;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  // Remembers its state only if `remember`, so that a picture looks the same each time.
  MainWindow(Services services, const Options& options, bool remember, QWidget* parent = nullptr);
  ~MainWindow() override;

  void openFile(const QString& file);
  // Opens a window that compares this trace, as the bad run, with a good one.
  CompareWindow* compareWith(const QString& good);
  // The entries from the first selected row of the trace to the last.
  std::optional<model::ExportRange> selectedRange() const;
  // In the background; exported() follows.
  void exportTo(const QString& file, model::ExportFormat format,
                const std::vector<model::ExportRange>& ranges);
  void setTrace(const SharedTrace& trace);

  enum class Showing : std::uint8_t { Welcome, Loading, Error, Trace };
  Showing showing() const;
  // Of the error page.
  QString errorMessage() const;

  views::Navigator& navigator() { return m_navigator; }
  views::CodePane* codePane() const { return m_code; }
  views::TracePane* tracePane() const { return m_traces; }
  views::ThreadsPanel* threadsPanel() const;
  views::CallsPanel* callsPanel() const;
  views::SummaryStrip* summaryStrip() const { return m_summary; }
  views::AnnotationsPanel* annotationsPanel() const;
  views::Annotations& annotations() { return m_annotations; }
  views::EndValues& values() { return m_values; }
  views::AnswersPanel* answersPanel() const;
  IncomingSnaps& incoming() { return m_incoming; }
  // Says so if there is none.
  void openNewest();
  // The wizard; null, said in the status bar, without the program that records.
  RecordWizard* recordProgram();
  Panels& panels() { return *m_panels; }
  Layouts& layouts() { return *m_layouts; }
  QDockWidget* notesDock() const;
  QDockWidget* answersDock() const;
  views::SearchBox* searchBox() const { return m_search; }
  StepActions* steps() const { return m_steps; }
  SeekActions* seeks() const { return m_seeks; }
  Shortcuts& shortcuts() { return m_shortcuts; }
  void showShortcuts();
  void showSourceFolders();

 signals:
  // With an empty message: the trace is shown. Cancelling says nothing.
  void finishedLoading(const QString& error);
  // With an empty message: all was written.
  void exported(const QString& error);
  // Once for each trace, after it was on the screen for the first time.
  void tracePainted();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void buildCentral();
  void buildPanels();
  void buildMenus();
  void buildToolBar();
  void showPage(Showing what);
  void showStatus();
  void say(const QString& text);  // in the status bar, for a while
  void askForFile();
  void askForComparison();
  void askForExport();
  void watchAnnotations();
  void watchHistory();
  void watchIncoming();
  void chooseSnapFolder();
  // What is kept of a snap that is closed, for when it is opened again.
  void keepSession();
  void restoreSession();
  void cancelLoading();
  void showTraceAgain();
  // Entries of a part are counted from where it begins, so nothing can be said of them for later.
  void refuseNotesOfPart();
  void setFullerTrace(const SharedTrace& trace);
  void partLoaded(const SharedTrace& trace);
  void loaded(const SharedTrace& trace);
  void locateSource(const QString& compiled);
  QList<SourceMapping> sourceMappings() const;
  void useSourceMappings();
  void sourcesChanged();
  void openEditor();
  void chooseEditor();
  void fillRecentMenu();
  void offerCommands();
  void doOffered(int number);
  QDockWidget* dockOf(const QAction* toggle) const;  // null if it is no panel's
  void useLayout(Layouts::Kind kind);
  void showAbout();

  Services m_services;
  Options m_options;
  bool m_remember;
  bool m_optionsUsed = false;
  bool m_painted = true;
  bool m_placeAsked = false;  // the command line said where to go in this trace
  bool m_partShown = false;  // of the file that is being loaded
  bool m_isPart = false;     // what is shown, be it still being loaded or not
  Settings m_settings;
  Shortcuts m_shortcuts;
  views::Navigator m_navigator;
  views::SourceCache m_sources;
  views::Annotations m_annotations;
  IncomingSnaps m_incoming;
  views::EndValues m_values;
  QString m_shownFile;  // of the trace that is shown; empty if it came otherwise
  LoadJob m_job;

  StepActions* m_steps;
  SeekActions* m_seeks;
  QStackedWidget* m_pages;
  WelcomePage* m_welcome;
  LoadingPage* m_loading;
  ErrorPage* m_error;
  QWidget* m_tracePage;
  QMainWindow* m_docks;  // within the trace's page, so that the lists come and go with it
  QSplitter* m_splitter;
  views::SummaryStrip* m_summary;
  views::CodePane* m_code;
  views::TracePane* m_traces;
  std::unique_ptr<Panels> m_panels;
  views::BackgroundJob m_exporting;
  std::unique_ptr<Layouts> m_layouts;
  views::SearchBox* m_search;
  QMenu* m_recentMenu;
  QLabel* m_place;
  LoadingNote* m_reading;
  QActionGroup* m_layoutActions;
};

}  // namespace traceback::app
