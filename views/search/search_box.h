// One box for what to go to: a function by any part of its name, or FILE:LINE. Enter goes to the last time it
// ran before now, Shift+Enter to the next. It takes questions as well (model/query/question.h), and offers
// the panels and commands of the program. Anything else, and what is in quotes, is a text that is looked for
// in the sources.
#pragma once

#include <QLineEdit>
#include <optional>
#include <vector>

#include "model/query/question.h"
#include "views/moving/finder.h"
#include "views/search/search_model.h"

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
  // Views and commands. They are offered whether there is a trace or not.
  void setOffers(std::vector<SearchOffer> offers);
  QCompleter* completions() const { return m_completer; }

 signals:
  // A view or a command that is to be shown or done.
  void offerTaken(int number);
  void textAsked(const QString& text);
  void message(const QString& text);
  void asked(const model::Question& question, const QString& text);
  // Whatever was asked is not wanted any more.
  void cancelled();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void showTrace();
  void ask();
  // What a row of the list stands for; null without one.
  const SearchOffer* offerAt(const QModelIndex& completion) const;
  // The view or command that the text names, unless a function is called so; null if there is none.
  const SearchOffer* named() const;
  void take(const SearchOffer& offer);
  void go(Finder::Direction direction, const SearchOffer* chosen = nullptr);

  Navigator* m_navigator;
  Finder m_finder;
  SearchModel m_model;
  std::vector<SearchOffer> m_offers;  // apart from those of the trace
  QCompleter* m_completer;
};

}  // namespace traceback::views
