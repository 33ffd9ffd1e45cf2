#include "app/viewer/wizard/policy_field.h"

#include <QLabel>
#include <QVBoxLayout>
#include <utility>

#include "app/viewer/wizard/file_field.h"

namespace traceback::app {
namespace {

constexpr int kSettledMs = 250, kEndsWithinMs = 1000;

}  // namespace

PolicyField::PolicyField(QString traceback, QWidget* parent)
    : QWidget(parent),
      m_traceback(std::move(traceback)),
      m_file(new FileField(
          {.objectName = QStringLiteral("policy"),
           .accessibleName = tr("Policy file"),
           .placeholder = tr("~/.config/traceback/policy or /etc/traceback/policy, if there is one"),
           .toolTip = tr(
               "What is snapped besides crashes, how often, and how much is kept: see traceback-policy(5)"),
           .browse = tr("Bro&wse\u2026"),
           .browseName = tr("Choose a policy file"),
           .title = tr("Policy File"),
           .notAbsolute = tr("The policy file's path begins with a slash.")},
          this)),
      m_note(new QLabel(this)) {
  m_note->setObjectName(QStringLiteral("policyNote"));
  m_note->setWordWrap(true);
  m_note->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_note->hide();
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(m_file);
  layout->addWidget(m_note);
  setFocusProxy(m_file);
  m_settled.setSingleShot(true);
  m_settled.setInterval(kSettledMs);
  connect(&m_settled, &QTimer::timeout, this, &PolicyField::check);
  connect(m_file, &FileField::changed, this, [this] {
    stop();
    m_note->hide();
    if (!file().isEmpty() && problem().isEmpty()) m_settled.start();
    emit changed();
  });
}

PolicyField::~PolicyField() { stop(); }

QLineEdit* PolicyField::edit() const { return m_file->edit(); }

QString PolicyField::file() const { return m_file->file(); }

QString PolicyField::problem() const { return m_file->problem(); }

QString PolicyField::note() const { return m_note->isHidden() ? QString() : m_note->text(); }

void PolicyField::stop() {
  m_settled.stop();
  QProcess* process = std::exchange(m_process, nullptr);
  if (process == nullptr) return;
  process->disconnect(this);
  process->kill();
  process->waitForFinished(kEndsWithinMs);
  delete process;
}

void PolicyField::check() {
  stop();
  m_process = new QProcess(this);
  m_process->setProcessChannelMode(QProcess::MergedChannels);
  m_process->setStandardInputFile(QProcess::nullDevice());
  const auto done = [this] {
    QProcess* process = std::exchange(m_process, nullptr);
    if (process == nullptr) return;
    QString text = process->error() == QProcess::FailedToStart
                       ? process->errorString()
                       : QString::fromLocal8Bit(process->readAll()).trimmed();
    process->deleteLater();
    // A line that is wrong is left out; the recording goes on with the others.
    m_note->setText(text.remove(QStringLiteral("traceback: ")));
    m_note->show();
  };
  connect(m_process, &QProcess::finished, this, done);
  connect(m_process, &QProcess::errorOccurred, this, [this, done](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) done();
  });
  m_process->start(m_traceback, {QStringLiteral("policy"), file()});
}

}  // namespace traceback::app
