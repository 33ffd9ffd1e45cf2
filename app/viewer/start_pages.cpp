#include "app/viewer/start_pages.h"

#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>

#include "app/viewer/incoming/incoming_panel.h"
#include "app/viewer/incoming/incoming_snaps.h"
#include "views/common/icons.h"
#include "views/common/theme.h"
#include "views/trace/trace_delegate.h"

namespace traceback::app {
namespace {

constexpr int kColumnWidth = 680;
constexpr int kIncomingRows = 6;
constexpr int kSteps = 1000;  // of a progress bar

// A column in the middle of the page.
QVBoxLayout* column(QWidget* page) {
  page->setAutoFillBackground(true);
  page->setBackgroundRole(QPalette::Base);
  auto* inner = new QWidget(page);
  inner->setFixedWidth(kColumnWidth);
  auto* outer = new QVBoxLayout(page);
  outer->addStretch(2);
  outer->addWidget(inner, 0, Qt::AlignHCenter);
  outer->addStretch(3);
  auto* layout = new QVBoxLayout(inner);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(8);
  return layout;
}

QLabel* title(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  QFont font = label->font();
  font.setPointSizeF(font.pointSizeF() * 1.35);
  font.setBold(true);
  label->setFont(font);
  label->setWordWrap(true);
  return label;
}

QLabel* words(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

QLabel* heading(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  QFont bold = label->font();
  bold.setBold(true);
  label->setFont(bold);
  return label;
}

// Hidden as long as no folder is watched.
QWidget* incomingList(IncomingSnaps& snaps, QWidget* parent) {
  auto* box = new QWidget(parent);
  auto* panel = new IncomingPanel(snaps, box);
  auto* frame = new QFrame(box);
  frame->setFrameShape(QFrame::StyledPanel);
  auto* inner = new QVBoxLayout(frame);
  inner->setContentsMargins(1, 1, 1, 1);
  inner->addWidget(panel);
  panel->list()->setFixedHeight(views::TraceDelegate::rowHeight() * kIncomingRows + kIncomingRows);
  auto* layout = new QVBoxLayout(box);
  layout->setContentsMargins(0, 0, 0, 12);
  layout->addWidget(heading(WelcomePage::tr("Incoming snaps"), box));
  layout->addWidget(frame);
  const auto show = [box, &snaps] { box->setVisible(!snaps.folder().isEmpty()); };
  QObject::connect(&snaps, &IncomingSnaps::modelReset, box, show);
  show();
  return box;
}

QPushButton* openButton(QWidget* parent) {
  auto* button =
      new QPushButton(views::icon(QStringLiteral("open")), WelcomePage::tr("Open Snap\u2026"), parent);
  button->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  return button;
}

}  // namespace

WelcomePage::WelcomePage(IncomingSnaps& incoming, QWidget* parent) : QWidget(parent) {
  QVBoxLayout* layout = column(this);
  auto* picture = new QLabel(this);
  picture->setPixmap(views::programIcon().pixmap(QSize(64, 64), devicePixelRatioF()));
  picture->setFixedSize(64, 64);
  layout->addWidget(picture);
  layout->addSpacing(10);
  layout->addWidget(title(tr("How did it get there?"), this));
  layout->addWidget(
      words(tr("Open a snap, or drop it on this window, to see the lines that led to its fault and "
               "to step back from there."),
            this));
  QPushButton* open = openButton(this);
  auto* record = new QPushButton(views::icon(QStringLiteral("snap")), tr("Record a Program\u2026"), this);
  record->setObjectName(QStringLiteral("recordProgram"));
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(open);
  buttons->addWidget(record);
  buttons->addStretch(1);
  layout->addSpacing(6);
  layout->addLayout(buttons);
  connect(record, &QPushButton::clicked, this, &WelcomePage::recordRequested);
  connect(open, &QPushButton::clicked, this, &WelcomePage::openRequested);
  layout->addSpacing(18);
  m_incoming = incomingList(incoming, this);
  layout->addWidget(m_incoming);
  m_recentTitle = heading(tr("Recent snaps"), this);
  layout->addWidget(m_recentTitle);
  m_recent = new QVBoxLayout;
  m_recent->setSpacing(2);
  layout->addLayout(m_recent);
  setRecent({});
}

void WelcomePage::setRecent(const QStringList& files) {
  while (QLayoutItem* item = m_recent->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  m_recentTitle->setVisible(!files.isEmpty());
  for (const QString& file : files) {
    auto* link = new QLabel(this);
    const QString name = QFileInfo(file).fileName().toHtmlEscaped();
    const QString folder = QFileInfo(file).absolutePath().toHtmlEscaped();
    const QString dim = views::Theme(palette()).dimText.name();
    link->setText(
        QStringLiteral("<a href=\"open\">%1</a> <span style=\"color:%3\">%2</span>").arg(name, folder, dim));
    link->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    link->setToolTip(file);
    link->setAccessibleName(tr("Open %1").arg(file));
    connect(link, &QLabel::linkActivated, this, [this, file] { emit fileRequested(file); });
    m_recent->addWidget(link);
  }
}

LoadingPage::LoadingPage(QWidget* parent) : QWidget(parent) {
  QVBoxLayout* layout = column(this);
  m_title = title({}, this);
  m_stage = words({}, this);
  m_bar = new QProgressBar(this);
  m_bar->setTextVisible(false);
  m_bar->setAccessibleName(tr("Progress of loading"));
  auto* cancel = new QPushButton(tr("Cancel"), this);
  cancel->setObjectName(QStringLiteral("cancelLoading"));
  cancel->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  cancel->setShortcut(Qt::Key_Escape);
  layout->addWidget(m_title);
  layout->addWidget(m_bar);
  layout->addWidget(m_stage);
  layout->addSpacing(6);
  layout->addWidget(cancel);
  connect(cancel, &QPushButton::clicked, this, &LoadingPage::cancelRequested);
}

void LoadingPage::start(const QString& file) {
  m_title->setText(tr("Opening %1").arg(QFileInfo(file).fileName()));
  m_stage->setText(QStringLiteral(" "));
  m_bar->setRange(0, 0);
}

void LoadingPage::setProgress(double done, const QString& stage) {
  m_bar->setRange(0, kSteps);
  m_bar->setValue(static_cast<int>(std::clamp(done, 0.0, 1.0) * kSteps));
  m_stage->setText(stage.isEmpty() ? QStringLiteral(" ") : stage);
}

ErrorPage::ErrorPage(QWidget* parent) : QWidget(parent) {
  QVBoxLayout* layout = column(this);
  m_title = title({}, this);
  m_message = words({}, this);
  m_message->setObjectName(QStringLiteral("errorMessage"));
  QPushButton* open = openButton(this);
  layout->addWidget(m_title);
  layout->addWidget(m_message);
  layout->addSpacing(6);
  layout->addWidget(open);
  connect(open, &QPushButton::clicked, this, &ErrorPage::openRequested);
}

void ErrorPage::show(const QString& file, const QString& message) {
  m_title->setText(headingOf(file));
  m_message->setText(message);
}

QString ErrorPage::message() const { return m_message->text(); }

void ErrorPage::showBefore(QWidget* window, const QString& file, const QString& message) {
  delete window->findChild<QMessageBox*>(QStringLiteral("openError"));
  auto* box = new QMessageBox(QMessageBox::Warning, headingOf(file), message, QMessageBox::Ok, window);
  box->setObjectName(QStringLiteral("openError"));
  box->setTextFormat(Qt::PlainText);
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

QString ErrorPage::headingOf(const QString& file) {
  return tr("%1 could not be opened").arg(QFileInfo(file).fileName());
}

}  // namespace traceback::app
