// Lines of code with a margin that shows what ran: source or instructions, whichever it is given.
#pragma once

#include <QHash>
#include <QPlainTextEdit>
#include <QStringList>
#include <functional>
#include <utility>

namespace traceback::views {

class CodeMargin;

class CodeView : public QPlainTextEdit {
  Q_OBJECT

 public:
  struct Mark {
    std::size_t hits = 0;      // executions in this call
    bool fault = false;
    bool otherRound = false;   // its executions are all of other rounds of a loop than the one shown
    bool unreached = false;    // has code, of which no execution is in the trace
    QString note;              // what the user noted there; null for nothing
  };

  explicit CodeView(QWidget* parent = nullptr);

  // Lines are counted from 0 here. Labels stand in the margin; without them the lines are numbered from 1.
  void setLines(const QStringList& lines, const QStringList& labels = {});
  // `atLeast`: the hits are a lower bound.
  void setMarks(QHash<int, Mark> marks, bool atLeast);
  // -1 for none. Brings the line into sight, with some lines around it.
  void setCurrentLine(int line);
  int currentLine() const { return m_current; }
  Mark mark(int line) const { return m_marks.value(line); }
  QString label(int line) const;
  // Where a line is drawn in the viewport; empty if it is not in sight.
  QRect whereIs(int line) const;
  // What to say of a word that the mouse rests on, in place of what is said of its line; empty for nothing.
  void setWordHelp(std::function<QString(const QString& word)> help) { m_wordHelp = std::move(help); }
  QString wordAt(const QPoint& inViewport) const;
  // What the marks of a line say, in sentences.
  QString markText(int line) const;

 signals:
  // A click or Enter on a line.
  void lineActivated(int line);
  // A click in the margin or with Ctrl: to the execution before now, or, with Shift, to the one after.
  void executionRequested(int line, bool after);
  // The mouse rests on a line, which is drawn at `where` of the viewport.
  void lineHovered(int line, const QRect& where);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  // Its menu has the view's actions, which are about the line with the text cursor.
  void contextMenuEvent(QContextMenuEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  friend class CodeMargin;

  void layOutMargin();
  void scrollToCurrent(bool resized);
  int lineAt(int y) const;
  QRectF lineRect(const QTextBlock& block) const;
  void applyFont();
  void hover(int y, const QPoint& global);

  CodeMargin* m_margin;
  QStringList m_labels;
  QHash<int, Mark> m_marks;
  bool m_atLeast = false;
  int m_current = -1;
  bool m_follow = true;  // the user has not scrolled since the current line was set
  QPoint m_pressed;
  std::function<QString(const QString&)> m_wordHelp;
};

}  // namespace traceback::views
