// When a source line ran, around now: a small list over the source whose rows jump. It comes by hovering or
// by a key, and goes when the mouse leaves it, at a jump, and with Escape.
#pragma once

#include <QFrame>
#include <QTimer>
#include <vector>

#include "model/ids.h"
#include "views/common/background_job.h"
#include "views/moving/navigator.h"

class QLabel;
class QListWidget;

namespace traceback::views {

class ExecutionsPopup : public QFrame {
  Q_OBJECT

 public:
  static constexpr int kEachWay = 6;  // executions before and after now that are listed

  // Over `parent`, which is the view that the lines are in.
  ExecutionsPopup(Navigator& navigator, QWidget* parent);

  // `heading` stands above; `line` is where the line is drawn, in the parent's coordinates. Asked for by key
  // it takes the keyboard.
  void open(model::FileId file, std::uint32_t line, const QString& heading, const QRect& where, bool byKey);
  QListWidget* list() const { return m_list; }
  QString heading() const;
  // Whether rows are still being looked for.
  bool looking() const { return m_job.running(); }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  struct Row {
    model::EntryIndex entry = 0;
    QString text;
  };
  void show(const std::vector<Row>& rows, bool earlier, bool later, model::EntryIndex now);
  void place();
  void jump();
  void lookAtMouse();

  Navigator* m_navigator;
  QLabel* m_heading;
  QListWidget* m_list;
  BackgroundJob m_job;
  QTimer m_watch;
  QRect m_line;
  model::ThreadIndex m_thread;
  bool m_byKey = false;
};

}  // namespace traceback::views
