// Asks questions (model/query/question.h) of the trace and lists the answers, whose rows jump. What `goto`
// finds is gone to at once.
#pragma once

#include <QWidget>
#include <functional>
#include <memory>

#include "model/query/answer.h"
#include "views/common/background_job.h"
#include "views/moving/navigator.h"
#include "views/source/code_provider.h"

class QLabel;
class QTreeView;

namespace traceback::views {

class AnswersModel;
class SourceCache;

class AnswersPanel : public QWidget {
  Q_OBJECT

 public:
  static constexpr std::size_t kMostRows = 10'000;

  AnswersPanel(Navigator& navigator, SourceCache& sources, QWidget* parent = nullptr);

  // Stands for the text in the panel's title; answers come later.
  void ask(const model::Question& question, const QString& text);
  // Where lines that hold the text ran.
  void askForText(const QString& text);
  // What was asked, if it is not answered yet; and says so.
  void cancel();
  // Sources for a thread of its own.
  void setSources(std::function<std::shared_ptr<SourceProvider>()> sources) {
    m_sources = std::move(sources);
  }
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
  void showRows(const std::shared_ptr<const model::Trace>& trace, model::Answer answer, const QString& text);
  void jump(const QModelIndex& index);
  void forget();

  Navigator* m_navigator;
  AnswersModel* m_model;
  QTreeView* m_list;
  QLabel* m_note;
  std::function<std::shared_ptr<SourceProvider>()> m_sources;
  BackgroundJob m_job;
};

}  // namespace traceback::views
