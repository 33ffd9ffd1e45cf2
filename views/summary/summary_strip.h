// What happened, in plain words, on top of the window; and a quiet line below it if the snap had faults.
#pragma once

#include <QWidget>
#include <memory>
#include <optional>

#include "model/trace.h"

class QLabel;
class QToolButton;

namespace traceback::views {

class ElidedLabel;

class SummaryStrip : public QWidget {
  Q_OBJECT

 public:
  explicit SummaryStrip(QWidget* parent = nullptr);

  void setTrace(const std::shared_ptr<const model::Trace>& trace);
  QString headline() const;
  QString details() const;
  // Empty if there is nothing to say.
  QString notes() const;

  // Empty if nothing was thrown before.
  QString thrownFirst() const;

 signals:
  void notesRequested();
  void placeRequested(model::TracePlace place);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void applyColors();

  bool m_fault = false;
  std::optional<model::TracePlace> m_firstThrow;
  QLabel* m_icon;
  ElidedLabel* m_headline;
  ElidedLabel* m_details;
  QToolButton* m_thrownFirst;
  QToolButton* m_notes;
};

// "lua5.4: SIGSEGV in luaF_close"
QString traceTitle(const model::Trace& trace);

}  // namespace traceback::views
