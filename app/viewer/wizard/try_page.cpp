#include "app/viewer/wizard/try_page.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "app/viewer/wizard/record_state.h"
#include "app/viewer/wizard/text_fields.h"
#include "views/common/formatting.h"
#include "views/common/icons.h"

namespace traceback::app {
namespace {

constexpr int kMostLines = 5000;
constexpr int kOutputLines = 8;
// One that does not heed a request to end is ended.
constexpr int kHeedsWithinMs = 3000;

}  // namespace

TryPage::TryPage(RecordState& state, QWidget* parent)
    : QWizardPage(parent),
      m_state(&state),
      m_start(new QPushButton(tr("&Start"), this)),
      m_stop(new QPushButton(tr("S&top"), this)),
      m_snap(new QPushButton(views::icon(QStringLiteral("snap")), tr("Snap &Now"), this)),
      m_open(new QPushButton(views::icon(QStringLiteral("open")), tr("&Open It"), this)),
      m_output(textToCopy(kOutputLines, this)),
      m_what(new QLabel(this)),
      m_came(new QLabel(this)) {
  setTitle(tr("Try It"));
  setSubTitle(tr("Starts the program so that it records. This step may be left out."));
  m_output->setMinimumHeight(m_output->height());
  m_output->setMaximumHeight(QWIDGETSIZE_MAX);
  m_output->setMaximumBlockCount(kMostLines);
  m_output->setObjectName(QStringLiteral("output"));
  m_output->setAccessibleName(tr("What the program prints"));
  m_what->setObjectName(QStringLiteral("tryState"));
  m_came->setObjectName(QStringLiteral("trySnap"));
  for (QLabel* label : {m_what, m_came}) {
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  }
  auto* buttons = new QHBoxLayout;
  for (QPushButton* button : {m_start, m_stop, m_snap}) {
    button->setAutoDefault(false);
    buttons->addWidget(button);
  }
  buttons->addStretch(1);
  m_open->setAutoDefault(false);
  auto* came = new QHBoxLayout;
  came->addWidget(m_came, 1);
  came->addWidget(m_open);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(buttons);
  layout->addWidget(m_what);
  layout->addWidget(m_output, 1);
  layout->addLayout(came);

  connect(m_start, &QPushButton::clicked, this, &TryPage::start);
  connect(m_stop, &QPushButton::clicked, this, &TryPage::stop);
  connect(m_snap, &QPushButton::clicked, this, &TryPage::snapNow);
  connect(m_open, &QPushButton::clicked, this, [this] { emit openRequested(m_snapFile); });
  connect(&state.snaps, &IncomingSnaps::arrived, this, [this](const QString& file) {
    const auto& snaps = m_state->snaps.snaps();
    const auto snap = std::ranges::find(snaps, file, &IncomingSnap::file);
    if (snap == snaps.end() || m_what->text().isEmpty()) return;
    m_snapFile = file;
    m_came->setText(tr("%1: %2").arg(QFileInfo(file).fileName(), views::reasonText(snap->summary)));
    showButtons();
  });
  showButtons();
}

TryPage::~TryPage() {
  for (QProcess* process : {m_process, m_snapping}) {
    if (process == nullptr) continue;
    process->disconnect(this);
    process->kill();
    process->waitForFinished(kHeedsWithinMs);
  }
}

QString TryPage::state() const { return m_what->text(); }

void TryPage::initializePage() {
  const QString folder = m_state->recording.snapFolder;
  m_state->snaps.setFolder(folder.isEmpty() ? IncomingSnaps::defaultFolder() : folder);
}

void TryPage::cleanupPage() { stop(); }

void TryPage::showButtons() {
  m_start->setEnabled(m_process == nullptr);
  m_stop->setEnabled(m_process != nullptr);
  m_snap->setEnabled(m_process != nullptr && m_snapping == nullptr);
  m_open->setVisible(!m_snapFile.isEmpty());
}

void TryPage::say(const QString& text) { m_what->setText(text); }

void TryPage::start() {
  if (m_process != nullptr) return;
  m_output->clear();
  m_came->clear();
  m_snapFile.clear();
  m_process = new QProcess(this);
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const QString& entry : m_state->recording.environment) {
    const auto equals = entry.indexOf(u'=');
    environment.insert(entry.first(equals), entry.sliced(equals + 1));
  }
  m_process->setProcessEnvironment(environment);
  m_process->setProcessChannelMode(QProcess::MergedChannels);
  m_process->setStandardInputFile(QProcess::nullDevice());
  connect(m_process, &QProcess::readyReadStandardOutput, this, [this] {
    m_output->moveCursor(QTextCursor::End);
    m_output->insertPlainText(QString::fromLocal8Bit(m_process->readAllStandardOutput()));
    m_output->moveCursor(QTextCursor::End);
  });
  connect(m_process, &QProcess::started, this, [this] {
    say(tr("Runs as process %1. The first start makes copies.").arg(m_process->processId()));
  });
  connect(m_process, &QProcess::finished, this, &TryPage::ended);
  connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) ended();
  });
  say(tr("Starting\u2026"));
  m_process->start(m_state->traceback, runArguments(m_state->recording));
  showButtons();
}

void TryPage::stop() {
  if (m_process == nullptr) return;
  m_process->terminate();
  QTimer::singleShot(kHeedsWithinMs, m_process, &QProcess::kill);
}

void TryPage::snapNow() {
  if (m_process == nullptr || m_snapping != nullptr) return;
  m_snapping = new QProcess(this);
  m_snapping->setStandardInputFile(QProcess::nullDevice());
  const auto done = [this] {
    QProcess* process = std::exchange(m_snapping, nullptr);
    if (process == nullptr) return;
    if (process->error() == QProcess::FailedToStart || process->exitCode() != 0)
      m_came->setText(tr("No snap could be made: %1")
                          .arg(process->error() == QProcess::FailedToStart
                                   ? process->errorString()
                                   : QString::fromLocal8Bit(process->readAllStandardError()).trimmed()));
    process->deleteLater();
    m_state->snaps.refresh();
    showButtons();
  };
  connect(m_snapping, &QProcess::finished, this, done);
  connect(m_snapping, &QProcess::errorOccurred, this, done);
  m_snapping->start(m_state->traceback, {QStringLiteral("snap"), QString::number(m_process->processId())});
  showButtons();
}

void TryPage::ended() {
  QProcess* process = std::exchange(m_process, nullptr);
  if (process == nullptr) return;
  if (process->error() == QProcess::FailedToStart)
    say(tr("%1 could not be started: %2").arg(m_state->traceback, process->errorString()));
  else if (process->exitStatus() == QProcess::CrashExit)
    say(tr("Ended by %1.").arg(views::signalName(static_cast<std::uint32_t>(process->exitCode()))));
  else
    say(tr("Ended with status %1.").arg(process->exitCode()));
  process->deleteLater();
  m_state->snaps.refresh();
  showButtons();
}

}  // namespace traceback::app
