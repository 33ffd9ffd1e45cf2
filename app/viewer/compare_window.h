// Two snaps side by side: source above, their traces below with what answers each other in one row. Opens
// where the two first part.
#pragma once

#include <QMainWindow>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "app/viewer/load_job.h"
#include "app/viewer/services.h"
#include "app/viewer/shortcuts.h"
#include "model/compare/comparison.h"
#include "model/compare/entry_keys.h"
#include "views/common/background_job.h"
#include "views/moving/navigator.h"
#include "views/source/source_cache.h"

class QComboBox;
class QLabel;
class QStackedWidget;

namespace traceback::views {
class CodePane;
class ComparePane;
class ElidedLabel;
}  // namespace traceback::views

namespace traceback::app {

class CompareWindow : public QMainWindow {
  Q_OBJECT

 public:
  // The user's keys are read, and changes of them kept, only if `remember`.
  CompareWindow(const Services& services, const QList<SourceMapping>& mappings, bool remember,
                QWidget* parent = nullptr);
  ~CompareWindow() override;

  void open(const QString& good, const QString& bad);
  void load(model::Side side, const QString& file);
  // With what is loaded already.
  void setTrace(model::Side side, const SharedTrace& trace, const QString& file);

  views::ComparePane* pane() const { return m_pane; }
  views::CodePane* code(model::Side side) const { return m_sides[static_cast<int>(side)].code; }
  QComboBox* threads(model::Side side) const { return m_sides[static_cast<int>(side)].threads; }
  views::Navigator& navigator(model::Side side) { return m_sides[static_cast<int>(side)].navigator; }
  QString message() const;
  Shortcuts& shortcuts() { return m_shortcuts; }
  void showShortcuts();

 signals:
  // With an empty message: two threads are compared and shown.
  void compared(const QString& error);

 protected:
  // A snap that is dropped takes the place of the side that it falls on.
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  struct OneSide {
    QString file;
    views::SourceCache sources;
    views::Navigator navigator;
    std::unique_ptr<LoadJob> job;
    QString error;  // why the last file could not be read
    views::CodePane* code = nullptr;
    views::ElidedLabel* title = nullptr;
    QComboBox* threads = nullptr;
  };
  QWidget* buildSide(model::Side side, const Services& services, const QList<SourceMapping>& mappings);
  void fillThreads();
  void chooseThread(model::Side side);
  void compareChosen();
  // What keeps the two from being compared: a side that could not be read, or is not read yet.
  void sayWhatIsMissing();
  void say(const QString& text);
  OneSide& side(model::Side which) { return m_sides[static_cast<int>(which)]; }

  Settings m_settings;
  Shortcuts m_shortcuts;
  OneSide m_sides[2];
  std::vector<model::ThreadPair> m_pairs;
  views::BackgroundJob m_comparing;
  views::ComparePane* m_pane;
  QStackedWidget* m_pages;
  QLabel* m_message;
};

}  // namespace traceback::app
