#include "app/viewer/wizard/libraries_page.h"

#include <QGridLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTreeView>

#include "app/viewer/wizard/files_page.h"
#include "app/viewer/wizard/record_state.h"
#include "app/viewer/wizard/text_fields.h"

namespace traceback::app {

LibrariesPage::LibrariesPage(RecordState& state, QWidget* parent)
    : QWizardPage(parent),
      m_state(&state),
      m_only(linesField(3, this)),
      m_exclude(linesField(3, this)),
      m_table(filesTable(state.files, this)),
      m_effect(new QLabel(this)) {
  setTitle(tr("Libraries"));
  setSubTitle(
      tr("Patterns of paths or names, one a line: * is any text, ? any character. They hold for libraries "
         "that are "
         "loaded later and for programs that are started, too."));
  m_only->setObjectName(QStringLiteral("only"));
  m_only->setPlaceholderText(tr("all files"));
  m_exclude->setObjectName(QStringLiteral("exclude"));
  m_exclude->setPlaceholderText(tr("for example: libcrypto*"));
  m_effect->setObjectName(QStringLiteral("effect"));
  m_effect->setWordWrap(true);
  auto* onlyLabel = new QLabel(tr("Trace &only these:"), this);
  onlyLabel->setBuddy(m_only);
  auto* excludeLabel = new QLabel(tr("But &not these:"), this);
  excludeLabel->setBuddy(m_exclude);
  auto* layout = new QGridLayout(this);
  layout->addWidget(onlyLabel, 0, 0);
  layout->addWidget(excludeLabel, 0, 1);
  layout->addWidget(m_only, 1, 0);
  layout->addWidget(m_exclude, 1, 1);
  layout->addWidget(m_effect, 2, 0, 1, 2);
  layout->addWidget(m_table, 3, 0, 1, 2);
  layout->setRowStretch(3, 1);
  for (QPlainTextEdit* field : {m_only, m_exclude})
    connect(field, &QPlainTextEdit::textChanged, this, &LibrariesPage::apply);
  connect(&state.files, &FilesModel::choiceChanged, this, [this] {
    m_effect->setText(choiceText(m_state->files));
    emit completeChanged();
  });
}

void LibrariesPage::initializePage() { apply(); }

void LibrariesPage::apply() { m_state->files.setPatterns(linesIn(*m_only), linesIn(*m_exclude)); }

bool LibrariesPage::isComplete() const { return m_state->files.tracedFiles() > 0; }

bool LibrariesPage::validatePage() {
  m_state->recording.only = linesIn(*m_only);
  m_state->recording.exclude = linesIn(*m_exclude) + m_state->files.uncheckedPatterns();
  return true;
}

}  // namespace traceback::app
