#include "app/viewer/wizard/policy_field.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

namespace traceback::app {
namespace {

constexpr int kSettledMs = 250, kEndsWithinMs = 1000;

}  // namespace

PolicyField::PolicyField(QString traceback, QWidget* parent)
    : QWidget(parent),
      m_traceback(std::move(traceback)),
      m_edit(new QLineEdit(this)),
      m_note(new QLabel(this)) {
  m_edit->setObjectName(QStringLiteral("policy"));
  m_edit->setAccessibleName(tr("Policy file"));
  m_edit->setPlaceholderText(tr("~/.config/traceback/policy or /etc/traceback/policy, if there is one"));
  m_edit->setToolTip(
      tr("What is snapped besides crashes, how often, and how much is kept: see traceback-policy(5)"));
  auto* browse = new QPushButton(tr("Bro&wse\u2026"), this);
  browse->setAccessibleName(tr("Choose a policy file"));
  m_note->setObjectName(QStringLiteral("policyNote"));
  m_note->setWordWrap(true);
  m_note->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_note->hide();
  auto* row = new QHBoxLayout;
  row->addWidget(m_edit, 1);
  row->addWidget(browse);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addLayout(row);
  layout->addWidget(m_note);
  setFocusProxy(m_edit);
  m_settled.setSingleShot(true);
  m_settled.setInterval(kSettledMs);
  connect(&m_settled, &QTimer::timeout, this, &PolicyField::check);
  connect(browse, &QPushButton::clicked, this, [this] {
    const QString file = QFileDialog::getOpenFileName(this, tr("Policy File"), m_edit->text());
    if (!file.isEmpty()) m_edit->setText(file);
  });
  connect(m_edit, &QLineEdit::textChanged, this, [this] {
    stop();
    m_note->hide();
    if (!file().isEmpty() && problem().isEmpty()) m_settled.start();
    emit changed();
  });
}

PolicyField::~PolicyField() { stop(); }

QString PolicyField::file() const { return m_edit->text().trimmed(); }

QString PolicyField::problem() const {
  const QString path = file();
  if (path.isEmpty()) return {};
  if (!QDir::isAbsolutePath(path)) return tr("The policy file's path begins with a slash.");
  return QFileInfo(path).isFile() ? QString() : tr("%1 is not a file.").arg(path);
}

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
