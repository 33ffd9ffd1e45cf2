#include "views/search/answers_panel.h"

#include <QHeaderView>
#include <QLabel>
#include <QTreeView>
#include <QVBoxLayout>

#include "views/common/flat_header.h"
#include "views/common/formatting.h"
#include "views/common/list_style.h"
#include "views/search/answers_model.h"
#include "views/search/text_search.h"

namespace traceback::views {

AnswersPanel::AnswersPanel(Navigator& navigator, SourceCache& sources, QWidget* parent)
    : QWidget(parent),
      m_navigator(&navigator),
      m_model(new AnswersModel(sources, this)),
      m_list(new QTreeView(this)),
      m_note(new QLabel(this)) {
  m_list->setObjectName(QStringLiteral("answers"));
  m_list->setAccessibleName(tr("Answers"));
  m_list->setHeader(new FlatHeader(m_list));
  prepareList(m_list, m_model, AnswersModel::kWhat);
  m_list->header()->show();
  m_note->setMargin(4);
  m_note->setTextFormat(Qt::PlainText);
  m_note->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_note);
  layout->addWidget(m_list, 1);
  connect(m_list, &QTreeView::clicked, this, &AnswersPanel::jump);
  connect(m_list, &QTreeView::activated, this, &AnswersPanel::jump);
  connect(m_navigator, &Navigator::traceChanged, this, &AnswersPanel::forget);
}

QString AnswersPanel::note() const { return m_note->text(); }

void AnswersPanel::forget() {
  m_job.cancel();
  m_model->set(nullptr, {});
  m_note->clear();
}

void AnswersPanel::ask(const model::Question& question, const QString& text) {
  const auto trace = m_navigator->trace();
  if (!trace) return;
  const model::Standpoint from{m_navigator->threadIndex(), m_navigator->entryIndex()};
  auto found = std::make_shared<model::Answer>();
  m_job.start(
      [trace, from, question, found](std::stop_token stop) {
        *found = model::answer(*trace, from, question, kMostRows, std::move(stop));
      },
      [this, trace, question, found, text] { show(question, trace, std::move(*found), text); });
  emit message(tr("Looking for %1\u2026").arg(text));
}

void AnswersPanel::cancel() {
  if (!m_job.running()) return;
  m_job.cancel();
  emit message(tr("The question was given up."));
}

void AnswersPanel::show(const model::Question& question, const std::shared_ptr<const model::Trace>& trace,
                        model::Answer answer, const QString& text) {
  const QString note = QString::fromStdString(answer.note);
  if (std::holds_alternative<model::Goto>(question)) {
    if (answer.rows.empty()) return emit message(tr("%1: %2").arg(text, note));
    const model::AnswerRow& row = answer.rows.front();
    m_navigator->goTo(row.thread, row.position.value_or(row.match), Navigator::Remember::Yes);
    return emit message(tr("%1: here.").arg(text));
  }
  showRows(trace, std::move(answer), text);
}

void AnswersPanel::askForText(const QString& text) {
  const auto trace = m_navigator->trace();
  const auto sources = m_sources ? m_sources() : nullptr;
  if (!trace || !sources) return;
  const QString what = tr("\u201c%1\u201d").arg(text);
  auto found = std::make_shared<model::Answer>();
  m_job.start(
      [trace, sources, text, found](const std::stop_token& stop) {
        *found = executionsOfText(*trace, *sources, text, kMostRows, stop);
      },
      [this, trace, found, what] {
        if (found->rows.empty())
          emit message(tr("%1: %2").arg(what, QString::fromStdString(found->note)));
        else
          showRows(trace, std::move(*found), what);
      });
  emit message(tr("Looking for %1\u2026").arg(what));
}

void AnswersPanel::showRows(const std::shared_ptr<const model::Trace>& trace, model::Answer answer,
                            const QString& text) {
  const QString note = QString::fromStdString(answer.note);
  const std::size_t rows = answer.rows.size();
  m_model->set(trace, std::move(answer.rows));
  const QString many = answer.more ? tr("the first %1 answers").arg(count(rows))
                       : rows == 1 ? tr("1 answer")
                                   : tr("%1 answers").arg(count(rows));
  m_note->setText(note.isEmpty() ? tr("%1: %2").arg(text, many) : tr("%1: %2").arg(text, note));
  emit message({});
  emit listed();
}

void AnswersPanel::jump(const QModelIndex& index) {
  if (!index.isValid()) return;
  const model::AnswerRow& row = m_model->answer(index.row());
  m_navigator->goTo(row.thread, row.position.value_or(row.match), Navigator::Remember::Yes);
}

}  // namespace traceback::views
