// The code around the position: source if it is found, else the instructions of the function, else a plain
// word on what is missing. Shows what ran in the current call, and goes to a line's nearest execution.
#pragma once

#include <QHash>
#include <QWidget>
#include <memory>
#include <vector>

#include "model/queries.h"
#include "views/moving/instruction_stepper.h"
#include "views/moving/navigator.h"
#include "views/source/code_provider.h"
#include "views/source/executed_lines.h"
#include "views/source/line_survey.h"
#include "views/source/source_cache.h"
#include "views/source/source_fetcher.h"

class QAction;
class QLabel;
class QStackedWidget;
class QToolButton;

namespace traceback::views {

class Annotations;
class CodeView;
class ElidedLabel;
class ExecutionsPopup;
class FindBar;
class SourceHighlighter;
class SourceNote;

class CodePane : public QWidget {
  Q_OBJECT

 public:
  CodePane(Navigator& navigator, SourceCache& sources, QWidget* parent = nullptr);

  void setDisassembly(std::shared_ptr<DisassemblyProvider> provider);
  void setCodeLines(std::shared_ptr<CodeLinesProvider> provider) {
    m_survey.setProvider(std::move(provider));
  }
  // Lines with notes are marked; null for none.
  void setAnnotations(const Annotations* annotations);
  // Asked for, or shown because there is no source.
  bool showsDisassembly() const;
  bool showsSource() const;
  QAction* disassemblyAction() const { return m_disassemblyAction; }
  CodeView* sourceView() const { return m_source; }
  CodeView* disassemblyView() const { return m_assembly; }
  FindBar* findBar() const { return m_find; }
  // What stands where there is no code to show; empty otherwise.
  QString notice() const;
  void refresh();
  // Steps by instruction, while the disassembly is in sight.
  InstructionStepper* instructions() { return showsDisassembly() ? &m_stepper : nullptr; }
  // The line or instruction with the text cursor, as a question of when it ran; nothing if none is shown.
  struct Target {
    model::Query query;
    QString what;
  };
  std::optional<Target> cursorTarget() const;
  // Of a line of the view that is in sight, from 0.
  std::optional<Target> target(int line) const;
  // Lists when the source line with the text cursor ran.
  void listExecutions();
  ExecutionsPopup* executions() const { return m_executions; }
  // The file that is shown and the line with its text cursor, from 1; empty while no source is.
  struct Spot {
    QString path;
    int line = 0;
  };
  std::optional<Spot> spot() const;
  // Shows code that the trace need not have, until one moves: the source line of the entry, or its address.
  void lookAt(const model::Entry& code);
  // What is said of whether the source is the one that was compiled; empty if nothing is known or none shown.
  QString check() const;

 signals:
  // What is shown was brought up to date.
  void refreshed();
  void message(const QString& text);
  // To the execution of a line or instruction before or after now.
  void executionRequested(int line, bool after);
  // A source came from elsewhere: what shows its lines may show them now.
  void sourceFetched();
  // The user wants to say where the source is; the path is as the debug information has it.
  void locateRequested(const QString& path);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  // The entry whose code is shown: what is looked at, else the position's own, or, where that has no code,
  // the last line before it.
  struct Place {
    model::EntryIndex index = 0;
    model::Entry entry;
    bool own = true;
  };
  std::optional<Place> codePlace() const;
  void showPlace();
  bool showSource(const Place& place);
  bool showDisassembly(const Place& place, QString& why);
  void showNotice(const QString& title, const QString& text, const QString& missingSource);
  void markSource();
  void hovered(int line, const QRect& where, bool byKey);
  void showCheck(const Place& place);
  void wantSource(const Place& place);
  void showFetching();
  void markDisassembly(const Place& place);
  void setHeader(const QString& title, const QString& detail, const Place& place);
  void sourceLineActivated(int line);
  void instructionActivated(int line);
  bool goToNearest(const std::vector<model::EntryIndex>& executions, const QString& what);
  void colour();

  Navigator* m_navigator;
  SourceCache* m_sources;
  std::shared_ptr<DisassemblyProvider> m_provider;
  ExecutedLines m_executed;
  InstructionStepper m_stepper;
  LineSurvey m_survey;
  SourceFetcher m_fetcher;
  const Annotations* m_annotations = nullptr;

  QLabel* m_title;
  ElidedLabel* m_detail;
  QLabel* m_check;
  QLabel* m_function;
  QAction* m_disassemblyAction;
  QToolButton* m_locate;
  SourceNote* m_note;
  QStackedWidget* m_stack;
  CodeView* m_source;
  CodeView* m_assembly;
  ExecutionsPopup* m_executions;
  QWidget* m_noticePage;
  QLabel* m_noticeTitle;
  QLabel* m_noticeText;
  QToolButton* m_noticeLocate;
  FindBar* m_find;
  SourceHighlighter* m_highlighter;

  std::optional<model::Entry> m_lookedAt;
  model::FileId m_shownFile;
  model::ModuleId m_sourceModule;  // whose code the shown source is
  model::EntryIndex m_sourceEntry = 0;  // that it is shown for
  QString m_missingSource;
  model::ModuleId m_shownModule;
  model::VirtAddr m_shownStart, m_shownEnd;
  std::vector<Instruction> m_instructions;
};

}  // namespace traceback::views
