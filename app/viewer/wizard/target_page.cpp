#include "app/viewer/wizard/target_page.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QSortFilterProxyModel>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/viewer/wizard/record_state.h"
#include "views/common/list_style.h"

namespace traceback::app {

TargetPage::TargetPage(RecordState& state, QWidget* parent)
    : QWizardPage(parent),
      m_state(&state),
      m_sorted(new QSortFilterProxyModel(this)),
      m_program(new QRadioButton(tr("A &program, started by a command"), this)),
      m_process(new QRadioButton(tr("A process or &service that runs now"), this)),
      m_filter(new QLineEdit(this)),
      m_list(new QTreeView(this)),
      m_command(new QLineEdit(this)) {
  setTitle(tr("What to Record"));
  setSubTitle(tr("Nothing is changed: the program runs as a copy that records the lines it executes."));
  m_program->setChecked(true);

  m_sorted->setSourceModel(&m_processes);
  m_sorted->setFilterKeyColumn(-1);
  m_sorted->setFilterCaseSensitivity(Qt::CaseInsensitive);
  m_filter->setPlaceholderText(tr("Filter by name, service, user or command"));
  m_filter->setAccessibleName(tr("Filter of the processes"));
  m_filter->setClearButtonEnabled(true);
  views::prepareTable(m_list);
  m_list->setModel(m_sorted);
  m_list->setObjectName(QStringLiteral("processes"));
  m_list->setAccessibleName(tr("Processes"));
  m_list->header()->setStretchLastSection(true);

  auto* browse = new QPushButton(tr("&Browse\u2026"), this);
  auto* again = new QPushButton(tr("List &Again"), this);
  m_command->setObjectName(QStringLiteral("command"));
  m_command->setPlaceholderText(tr("for example: ./server --port 8080"));

  auto* filterRow = new QHBoxLayout;
  filterRow->addWidget(m_filter, 1);
  filterRow->addWidget(again);
  auto* commandRow = new QHBoxLayout;
  auto* label = new QLabel(tr("&Command:"), this);
  label->setBuddy(m_command);
  commandRow->addWidget(label);
  commandRow->addWidget(m_command, 1);
  commandRow->addWidget(browse);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(m_program);
  layout->addWidget(m_process);
  layout->addLayout(filterRow);
  layout->addWidget(m_list, 1);
  layout->addSpacing(4);
  layout->addLayout(commandRow);
  layout->addStretch(0);  // where there is no list

  connect(browse, &QPushButton::clicked, this, &TargetPage::browse);
  connect(again, &QPushButton::clicked, &m_processes, &ProcessesModel::refresh);
  connect(m_filter, &QLineEdit::textChanged, m_sorted, &QSortFilterProxyModel::setFilterFixedString);
  connect(m_command, &QLineEdit::textChanged, this, &QWizardPage::completeChanged);
  connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, &TargetPage::showChosen);
  connect(&m_processes, &ProcessesModel::listed, this, [this] {
    for (int column = 0; column < ProcessesModel::kCommand; ++column) m_list->resizeColumnToContents(column);
    emit completeChanged();
  });
  const auto showKind = [=, this] {
    for (QWidget* widget :
         {static_cast<QWidget*>(m_filter), static_cast<QWidget*>(m_list), static_cast<QWidget*>(again)})
      widget->setVisible(m_process->isChecked());
    browse->setVisible(m_program->isChecked());
    if (m_process->isChecked() && m_processes.rowCount() == 0) m_processes.refresh();
    showChosen();
  };
  connect(m_process, &QRadioButton::toggled, this, showKind);
  showKind();
}

void TargetPage::initializePage() { m_command->setFocus(); }

const RunningProcess* TargetPage::chosen() const {
  const QModelIndex index = m_sorted->mapToSource(m_list->currentIndex());
  return m_process->isChecked() && index.isValid() ? &m_processes.process(index.row()) : nullptr;
}

// The command can be put right: a program may have written something else over its arguments.
void TargetPage::showChosen() {
  if (const RunningProcess* process = chosen()) {
    QStringList words = process->command;
    const QString program = QFile::symLinkTarget(QStringLiteral("/proc/%1/exe").arg(process->pid));
    if (!program.isEmpty() && !program.endsWith(QLatin1String(" (deleted)"))) words.first() = program;
    QStringList quoted;
    for (const QString& word : std::as_const(words)) quoted << shellWord(word);
    m_command->setText(quoted.join(u' '));
    m_command->setCursorPosition(0);
  }
  emit completeChanged();
}

void TargetPage::browse() {
  const QString file = QFileDialog::getOpenFileName(this, tr("Choose a Program"));
  if (!file.isEmpty()) m_command->setText(shellWord(file));
}

bool TargetPage::isComplete() const {
  return !wordsOf(m_command->text()).isEmpty() && (m_program->isChecked() || chosen() != nullptr);
}

bool TargetPage::validatePage() {
  Recording& recording = m_state->recording;
  recording.command = wordsOf(m_command->text());
  const RunningProcess* process = chosen();
  const QString name = QFileInfo(recording.command.first()).completeBaseName();
  recording.service = process != nullptr && !process->service.isEmpty() ? process->service
                                                                        : name + QStringLiteral(".service");
  recording.ofUser = process != nullptr && process->ofUser;
  QString subject = process != nullptr ? QString::number(process->pid) : recording.command.first();
  // A number would be taken for a process.
  bool number = false;
  if (process == nullptr && subject.toLongLong(&number) > 0 && number) subject.prepend(QLatin1String("./"));
  m_state->subject = subject;
  return true;
}

}  // namespace traceback::app
