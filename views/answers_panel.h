// Asks questions (model/query/question.h) of the trace and lists the answers, whose rows jump. What `goto`
// finds is gone to at once.
#pragma once

#include <QWidget>

#include "model/query/answer.h"
#include "views/background_job.h"
#include "views/navigator.h"

class QLabel;
class QTreeView;

namespace traceback::views {

class AnswersModel;

class AnswersPanel : public QWidget {
  Q_OBJECT

 public:
  static constexpr std::size_t kMostRows = 10'000;

  explicit AnswersPanel(Navigator& navigator, QWidget* parent = nullptr);

  // Stands for the text in the panel's title; answers come later.
  void ask(const model::Question& question, const QString& text);
  bool asking() const { return m_job.running(); }

  AnswersModel* answers() const { return m_model; }
  QTreeView* list() const { return m_list; }
  QString note() const;

 signals:
  // There is something to look at.
  void listed();
  void message(const QString& text);

 private:
  void show(const model::Question& question, const std::shared_ptr<const model::Trace>& trace,
            model::Answer answer, const QString& text);
  void jump(const QModelIndex& index);
  void forget();

  Navigator* m_navigator;
  AnswersModel* m_model;
  QTreeView* m_list;
  QLabel* m_note;
  BackgroundJob m_job;
};

}  // namespace traceback::views
