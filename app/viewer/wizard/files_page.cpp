#include "app/viewer/wizard/files_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/viewer/wizard/record_state.h"
#include "views/common/formatting.h"
#include "views/common/list_style.h"

namespace traceback::app {

QTreeView* filesTable(FilesModel& files, QWidget* parent) {
  auto* table = new QTreeView(parent);
  views::prepareTable(table);
  table->setModel(&files);
  table->setAccessibleName(FilesPage::tr("Files of the program"));
  table->header()->setStretchLastSection(true);
  for (int column = 0; column < FilesModel::kWhat; ++column)
    table->header()->setSectionResizeMode(column, QHeaderView::ResizeToContents);
  return table;
}

QString choiceText(const FilesModel& files) {
  const qint64 bytes = files.bytesToMake();
  const QString traced = FilesPage::tr("%1 of %2 files and %3 functions are traced")
                             .arg(files.tracedFiles())
                             .arg(files.rowCount())
                             .arg(views::count(static_cast<std::uint64_t>(files.tracedFunctions())));
  if (bytes == 0) return traced + u'.';
  return FilesPage::tr("%1; the first start makes copies of %2.")
      .arg(traced, QLocale().formattedDataSize(bytes, 1, QLocale::DataSizeSIFormat));
}

FilesPage::FilesPage(RecordState& state, QWidget* parent)
    : QWizardPage(parent),
      m_state(&state),
      m_table(filesTable(state.files, this)),
      m_summary(new QLabel(this)),
      m_details(new QLabel(this)),
      m_bar(new QProgressBar(this)),
      m_stop(new QPushButton(tr("&Stop"), this)) {
  setTitle(tr("What Will Be Traced"));
  setSubTitle(
      tr("What cannot be rewritten safely stays as it is, and runs untraced. Uncheck what you do not want."));
  m_table->setObjectName(QStringLiteral("files"));
  m_summary->setObjectName(QStringLiteral("filesSummary"));
  m_summary->setWordWrap(true);
  m_details->setWordWrap(true);
  m_details->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_details->setMinimumHeight(m_details->fontMetrics().lineSpacing() * 3);
  m_details->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_bar->setTextVisible(false);
  m_bar->setFixedWidth(fontMetrics().horizontalAdvance(u'n') * 22);
  m_bar->setAccessibleName(tr("How many files were looked at"));
  auto* progress = new QHBoxLayout;
  progress->addWidget(m_summary, 1);
  progress->addWidget(m_bar);
  progress->addWidget(m_stop);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(progress);
  layout->addWidget(m_table, 1);
  layout->addWidget(m_details);

  connect(m_stop, &QPushButton::clicked, this, [this] {
    m_state->plan.cancel();
    m_planned.clear();  // once more if the page is entered again
    showProgress();
  });
  connect(&state.plan, &PlanProcess::programKnown, this, [this](const PlannedProgram& program) {
    m_state->files.setProgram(program);
    // Such a process runs a copy; what is to be run is the original.
    if (program.recorded) m_state->recording.command.first() = program.program;
    if (!program.untraced.isEmpty()) m_problem = tr("Nothing is traced: %1.").arg(program.untraced);
    if (!program.notListed.isEmpty())
      m_problem = tr("Its libraries are not listed: %1.").arg(program.notListed);
    m_table->setCurrentIndex(m_state->files.index(0, 0));
    showProgress();
  });
  connect(&state.plan, &PlanProcess::fileKnown, this, [this](const PlannedFile& file) {
    m_state->files.setFile(file);
    showProgress();
    showDetails();
  });
  connect(&state.plan, &PlanProcess::finished, this, [this](const QString& error) {
    if (!error.isEmpty()) m_problem = error;
    showProgress();
  });
  connect(&state.files, &FilesModel::choiceChanged, this, &FilesPage::showProgress);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, &FilesPage::showDetails);
}

void FilesPage::initializePage() {
  if (m_planned == m_state->subject) return;
  m_planned = m_state->subject;
  m_problem.clear();
  m_state->files.clear();
  m_state->plan.start(m_state->subject);
  showProgress();
}

void FilesPage::cleanupPage() {
  if (!m_state->plan.running()) return;
  m_state->plan.cancel();
  m_planned.clear();
}

bool FilesPage::isComplete() const { return !m_state->plan.running() && m_state->files.tracedFiles() > 0; }

void FilesPage::showProgress() {
  const FilesModel& files = m_state->files;
  const bool running = m_state->plan.running();
  m_bar->setRange(0, files.rowCount());
  m_bar->setValue(files.rowCount() - files.waiting());
  m_bar->setVisible(running);
  m_stop->setEnabled(running);
  m_stop->setVisible(running);
  QString text;
  if (files.rowCount() == 0)
    text = running ? tr("Looking for the files that it loads\u2026") : m_problem;
  else if (running)
    text = tr("Looking at file %1 of %2\u2026")
               .arg(files.rowCount() - files.waiting() + 1)
               .arg(files.rowCount());
  else
    text = choiceText(files) + (m_problem.isEmpty() ? QString() : u' ' + m_problem) +
           (files.waiting() != 0 ? u' ' + tr("Some files were not looked at.") : QString());
  m_summary->setText(text);
  emit completeChanged();
}

void FilesPage::showDetails() {
  const QModelIndex index = m_table->currentIndex();
  if (!index.isValid()) return m_details->clear();
  QStringList lines{m_state->files.files()[index.row()].path};
  m_details->setText((lines + m_state->files.reasons(index.row())).join(u'\n'));
}

}  // namespace traceback::app
