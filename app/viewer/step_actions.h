// The ways to move, as actions: the six steps, the history, and the way to the fault. They follow the
// navigator: what cannot be done is greyed. While the disassembly is in sight the steps are by instruction.
#pragma once

#include <QObject>
#include <array>

#include "model/stepping.h"
#include "views/moving/navigator.h"

class QAction;

namespace traceback::views {
class CodePane;
}  // namespace traceback::views

namespace traceback::app {

class StepActions : public QObject {
  Q_OBJECT

 public:
  explicit StepActions(views::Navigator& navigator, QObject* parent = nullptr);
  void setCodePane(views::CodePane* code);

  // In the order of model::Step.
  QAction* step(model::Step how) const { return m_steps[static_cast<std::size_t>(how)]; }
  QAction* historyBack() const { return m_historyBack; }
  QAction* historyForward() const { return m_historyForward; }
  QAction* fault() const { return m_fault; }
  QList<QAction*> all() const;

 private:
  void update();
  void take(model::Step how);

  views::CodePane* m_code = nullptr;
  views::Navigator* m_navigator;
  std::array<QAction*, 6> m_steps;
  QAction* m_historyBack;
  QAction* m_historyForward;
  QAction* m_fault;
};

}  // namespace traceback::app
