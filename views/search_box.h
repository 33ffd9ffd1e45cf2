// One box for what to go to: a function by any part of its name, or FILE:LINE. Enter goes to the last time it
// ran before now, Shift+Enter to the next. It takes questions as well (model/query/question.h).
#pragma once

#include <QLineEdit>
#include <QStringListModel>
#include <optional>
#include <vector>

#include "model/query/question.h"
#include "views/finder.h"

class QCompleter;

namespace traceback::views {

class SearchBox : public QLineEdit {
  Q_OBJECT

 public:
  explicit SearchBox(Navigator& navigator, QWidget* parent = nullptr);
  QSize sizeHint() const override;

  // What a text means in the trace: nothing if no function and no file is called so.
  struct Target {
    model::Query query;
    QString what;
  };
  static std::optional<Target> parse(const model::Trace& trace, const QString& text);

 signals:
  void message(const QString& text);
  void asked(const model::Question& question, const QString& text);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void showTrace();
  void ask();
  void go(Finder::Direction direction);

  Navigator* m_navigator;
  Finder m_finder;
  QStringListModel m_names;
  QCompleter* m_completer;
};

}  // namespace traceback::views
