#include "app/viewer/wizard/finish_page.h"

#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSaveFile>
#include <QStandardPaths>
#include <QVBoxLayout>

#include "app/viewer/wizard/record_state.h"
#include "app/viewer/wizard/snap_contents.h"
#include "app/viewer/wizard/text_fields.h"

namespace traceback::app {

FinishPage::FinishPage(RecordState& state, QWidget* parent)
    : QWizardPage(parent),
      m_state(&state),
      m_command(textToCopy(4, this)),
      m_dropIn(textToCopy(9, this)),
      m_service(new QLineEdit(this)),
      m_contents(new QLabel(this)),
      m_outcome(new QLabel(this)) {
  setTitle(tr("Take It Along"));
  setSubTitle(tr(
      "The command records wherever TraceBack is installed; the drop-in does so for a service of systemd."));
  m_command->setObjectName(QStringLiteral("commandLine"));
  m_dropIn->setObjectName(QStringLiteral("dropIn"));
  m_dropIn->setMinimumHeight(m_dropIn->height());
  m_dropIn->setMaximumHeight(QWIDGETSIZE_MAX);
  m_dropIn->setLineWrapMode(QPlainTextEdit::NoWrap);
  m_service->setObjectName(QStringLiteral("service"));
  m_contents->setObjectName(QStringLiteral("snapContents"));
  m_contents->setWordWrap(true);
  const auto copyButton = [this](const QString& name, QPlainTextEdit* field) {
    auto* button = new QPushButton(name, this);
    button->setAutoDefault(false);
    connect(button, &QPushButton::clicked, this, [this, field] {
      QGuiApplication::clipboard()->setText(field->toPlainText());
      m_outcome->setText(tr("Copied."));
    });
    return button;
  };
  QPushButton* copyCommand = copyButton(tr("&Copy Command"), m_command);
  copyCommand->setObjectName(QStringLiteral("copyCommand"));
  QPushButton* copyDropIn = copyButton(tr("Co&py Drop-in"), m_dropIn);
  copyDropIn->setObjectName(QStringLiteral("copyDropIn"));
  auto* save = new QPushButton(tr("&Save Drop-in\u2026"), this);
  save->setAutoDefault(false);
  auto* commandLabel = new QLabel(tr("Command &line:"), this);
  commandLabel->setBuddy(m_command);
  auto* serviceLabel = new QLabel(tr("Service o&f systemd:"), this);
  serviceLabel->setBuddy(m_service);
  m_dropIn->setAccessibleName(tr("Drop-in of the service"));

  auto* first = new QHBoxLayout;
  first->addWidget(commandLabel);
  first->addStretch(1);
  first->addWidget(copyCommand);
  auto* second = new QHBoxLayout;
  second->addWidget(serviceLabel);
  second->addWidget(m_service, 1);
  second->addWidget(copyDropIn);
  second->addWidget(save);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(first);
  layout->addWidget(m_command);
  layout->addSpacing(6);
  layout->addLayout(second);
  layout->addWidget(m_dropIn, 1);
  layout->addWidget(m_contents);
  layout->addWidget(m_outcome);
  connect(save, &QPushButton::clicked, this, &FinishPage::askToSave);
  connect(m_service, &QLineEdit::textEdited, this, [this](const QString& name) {
    m_state->recording.service = name.contains(u'.') ? name : name + QStringLiteral(".service");
    showTexts();
  });
}

void FinishPage::initializePage() {
  m_service->setText(m_state->recording.service);
  m_outcome->clear();
  showTexts();
}

void FinishPage::showTexts() {
  m_command->setPlainText(shellCommand(m_state->traceback, m_state->recording));
  // A service does not look for its program in PATH as it is here.
  Recording ofService = m_state->recording;
  QString& program = ofService.command.first();
  const QString found = program.contains(u'/') ? QFileInfo(program).absoluteFilePath()
                                               : QStandardPaths::findExecutable(program);
  if (!found.isEmpty()) program = found;
  m_dropIn->setPlainText(app::dropIn(m_state->traceback, ofService));
  m_contents->setText(snapContents(m_state->recording) + u' ' + snapReaders());
}

bool FinishPage::saveDropIn(const QString& file) {
  QSaveFile out(file);
  const QByteArray text = m_dropIn->toPlainText().toUtf8();
  const bool good =
      out.open(QIODevice::WriteOnly | QIODevice::Text) && out.write(text) == text.size() && out.commit();
  m_outcome->setText(good ? tr("Saved to %1.").arg(file)
                          : tr("%1: cannot be written: %2").arg(file, out.errorString()));
  return good;
}

void FinishPage::askToSave() {
  const QString proposed = dropInFile(m_state->recording);
  const QString file = QFileDialog::getSaveFileName(
      this, tr("Save Drop-in"),
      QFileInfo(proposed).absoluteDir().exists() ? proposed : QStringLiteral("traceback.conf"),
      tr("Configuration of systemd (*.conf)"));
  if (!file.isEmpty()) saveDropIn(file);
}

}  // namespace traceback::app
