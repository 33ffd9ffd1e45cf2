#include "app/viewer/loading_note.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>
#include <algorithm>

#include "views/common/icons.h"

namespace traceback::app {
namespace {

constexpr int kSteps = 1000;
constexpr int kBarWidth = 120;

}  // namespace

LoadingNote::LoadingNote(QWidget* parent) : QWidget(parent), m_bar(new QProgressBar(this)) {
  setObjectName(QStringLiteral("loadingNote"));
  m_bar->setRange(0, kSteps);
  m_bar->setTextVisible(false);
  m_bar->setFixedWidth(kBarWidth);
  m_bar->setAccessibleName(tr("Progress of reading older records"));
  auto* stop = new QToolButton(this);
  stop->setIcon(views::icon(QStringLiteral("close")));
  stop->setAutoRaise(true);
  stop->setToolTip(tr("Stop reading: only what is shown by now stays"));
  stop->setAccessibleName(tr("Stop reading older records"));
  connect(stop, &QToolButton::clicked, this, &LoadingNote::cancelRequested);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(new QLabel(tr("Reading older records\u2026"), this));
  layout->addWidget(m_bar);
  layout->addWidget(stop);
  hide();
}

void LoadingNote::setProgress(double done, const QString& stage) {
  m_bar->setValue(static_cast<int>(std::clamp(done, 0.0, 1.0) * kSteps));
  m_bar->setToolTip(stage);
}

}  // namespace traceback::app
