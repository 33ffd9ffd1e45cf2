// The ways to move that look for something: the line, the function, the kind of event that one stands at, and
// the line with the text cursor; each to the next time and to the time before. Looking goes on beside the
// user interface and can take a while.
#pragma once

#include <QObject>
#include <array>

#include "views/moving/finder.h"
#include "views/source/code_pane.h"

class QAction;

namespace traceback::app {

class SeekActions : public QObject {
  Q_OBJECT

 public:
  enum What : std::uint8_t { Line, Function, Event, Cursor };

  SeekActions(views::Navigator& navigator, views::CodePane& code, QObject* parent = nullptr);

  QAction* action(What what, views::Finder::Direction direction) const;
  // Previous before next, in the order of What.
  QList<QAction*> all() const { return {m_actions.begin(), m_actions.end()}; }
  // Of a line of the code in sight, from 0: its execution before or after now.
  void seekInView(int line, views::Finder::Direction direction);

 signals:
  void message(const QString& text);

 private:
  void update();
  void seek(What what, views::Finder::Direction direction);
  void seekTarget(const views::CodePane::Target& target, views::Finder::Direction direction);
  void seekLine(model::FileId file, std::uint32_t line, views::Finder::Direction direction);

  views::Navigator* m_navigator;
  views::CodePane* m_code;
  views::Finder m_finder;
  std::array<QAction*, 8> m_actions;
};

}  // namespace traceback::app
