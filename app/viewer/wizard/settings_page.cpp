#include "app/viewer/wizard/settings_page.h"

#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

#include "app/viewer/wizard/policy_field.h"
#include "app/viewer/wizard/profile_field.h"
#include "app/viewer/wizard/record_state.h"
#include "app/viewer/wizard/snap_contents.h"
#include "app/viewer/wizard/text_fields.h"
#include "views/common/theme.h"

namespace traceback::app {
namespace {

constexpr quint64 kLeast = quint64{16} << 10, kGreatest = quint64{1} << 30;  // as `traceback run` has them

// "64K" in bytes; 0 if it is none.
quint64 bytesIn(const QString& text) {
  static const QRegularExpression form(QStringLiteral("^(\\d{1,12})([KMGkmg]?)$"));
  const auto found = form.match(text);
  if (!found.hasMatch()) return 0;
  const qsizetype unit = QStringLiteral("KMG").indexOf(found.captured(2).toUpper());
  return found.captured(1).toULongLong() << (found.captured(2).isEmpty() ? 0 : 10 * (unit + 1));
}

}  // namespace

SettingsPage::SettingsPage(RecordState& state, QWidget* parent)
    : QWizardPage(parent),
      m_state(&state),
      m_buffer(new QComboBox(this)),
      m_memory(new QComboBox(this)),
      m_policy(new PolicyField(state.traceback, this)),
      m_profile(new ProfileField(this)),
      m_folder(new QLineEdit(this)),
      m_environment(linesField(5, this)),
      m_contents(new QLabel(this)),
      m_problem(new QLabel(this)) {
  setTitle(tr("How to Record"));
  setSubTitle(
      tr("Each thread keeps the newest of what it executed. A crash, or what a policy says, writes that to "
         "a file, a snap."));
  m_buffer->setEditable(true);
  m_buffer->setObjectName(QStringLiteral("buffer"));
  m_buffer->addItem(tr("as it is by default"), QString());
  for (const char* size : {"256K", "1M", "4M", "16M", "64M"})
    m_buffer->addItem(QString::fromLatin1(size), QString::fromLatin1(size));
  m_buffer->setAccessibleName(tr("Buffer of each thread"));
  m_memory->setObjectName(QStringLiteral("memory"));
  for (const MemoryChoice& choice : memoryChoices()) m_memory->addItem(choice.title, choice.value);
  m_folder->setObjectName(QStringLiteral("folder"));
  m_folder->setPlaceholderText(IncomingSnaps::defaultFolder());
  auto* browse = new QPushButton(tr("B&rowse\u2026"), this);
  m_environment->setObjectName(QStringLiteral("environment"));
  m_environment->setPlaceholderText(tr("NAME=VALUE, one a line"));
  m_contents->setObjectName(QStringLiteral("snapContents"));
  m_problem->setObjectName(QStringLiteral("settingsProblem"));
  for (QLabel* label : {m_contents, m_problem}) label->setWordWrap(true);
  auto* folderRow = new QHBoxLayout;
  folderRow->addWidget(m_folder, 1);
  folderRow->addWidget(browse);
  auto* form = new QFormLayout;
  form->addRow(tr("B&uffer of each thread:"), m_buffer);
  form->addRow(tr("&Environment:"), m_environment);
  form->addRow(tr("&Policy file:"), m_policy);
  form->addRow(tr("Profi&le:"), m_profile);
  form->addRow(tr("&Folder for snaps:"), folderRow);
  form->addRow(tr("Kept of the &memory:"), m_memory);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addSpacing(6);
  layout->addWidget(m_contents);
  layout->addWidget(m_problem);
  layout->addStretch(1);
  // The row is a layout, which has no buddy.
  if (auto* label = qobject_cast<QLabel*>(form->labelForField(folderRow))) label->setBuddy(m_folder);

  connect(browse, &QPushButton::clicked, this, [this] {
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Folder for Snaps"), m_folder->text());
    if (!folder.isEmpty()) m_folder->setText(folder);
  });
  const auto check = [this] {
    m_problem->setText(problemWithFields());
    QPalette warning = palette();
    warning.setColor(QPalette::WindowText, views::Theme(warning).faultMark);
    m_problem->setPalette(warning);
    emit completeChanged();
  };
  connect(m_buffer, &QComboBox::currentTextChanged, this, check);
  connect(m_memory, &QComboBox::currentIndexChanged, this, &SettingsPage::showContents);
  connect(m_folder, &QLineEdit::textChanged, this, check);
  connect(m_policy, &PolicyField::changed, this, check);
  connect(m_profile, &ProfileField::changed, this, check);
  connect(m_environment, &QPlainTextEdit::textChanged, this, check);
  showContents();
}

QString SettingsPage::bufferSize() const {
  const QString text = m_buffer->currentText().trimmed();
  return text == m_buffer->itemText(0) ? QString() : text;
}

void SettingsPage::initializePage() { showContents(); }

void SettingsPage::showContents() {
  Recording asChosen = m_state->recording;
  asChosen.memory = m_memory->currentData().toString();
  m_contents->setText(snapContents(asChosen) + u' ' + snapReaders());
}

QString SettingsPage::problemWithFields() const {
  const QString size = bufferSize();
  if (!size.isEmpty() && (bytesIn(size) < kLeast || bytesIn(size) > kGreatest))
    return tr("A buffer has from 16K to 1G, not %1.").arg(size);
  if (const QString problem = m_policy->problem(); !problem.isEmpty()) return problem;
  if (const QString problem = m_profile->problem(); !problem.isEmpty()) return problem;
  const QString folder = m_folder->text();
  if (!folder.isEmpty() && !QDir::isAbsolutePath(folder)) return tr("The folder's path begins with a slash.");
  if (QFileInfo::exists(folder) && !QFileInfo(folder).isDir()) return tr("%1 is not a folder.").arg(folder);
  static const QRegularExpression name(QStringLiteral("^[A-Za-z_][A-Za-z0-9_]*="));
  for (const QString& line : linesIn(*m_environment))
    if (!name.match(line).hasMatch()) return tr("\u201c%1\u201d is not like NAME=VALUE.").arg(line);
  return {};
}

bool SettingsPage::isComplete() const { return problemWithFields().isEmpty(); }

bool SettingsPage::validatePage() {
  Recording& recording = m_state->recording;
  recording.bufferSize = bufferSize();
  recording.policy = m_policy->file();
  recording.profile = m_profile->file();
  recording.memory = m_memory->currentData().toString();
  recording.snapFolder = m_folder->text();
  recording.environment = linesIn(*m_environment);
  return true;
}

}  // namespace traceback::app
