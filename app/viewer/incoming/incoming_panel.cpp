#include "app/viewer/incoming/incoming_panel.h"

#include <QAction>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QStackedWidget>
#include <QToolButton>
#include <QTreeView>
#include <QVBoxLayout>

#include "app/viewer/incoming/incoming_snaps.h"
#include "views/common/elided_label.h"
#include "views/common/icons.h"
#include "views/common/list_style.h"
#include "views/trace/trace_delegate.h"

namespace traceback::app {
namespace {

QString withTilde(QString path) {
  const QString home = QDir::homePath();
  if (path == home || path.startsWith(home + u'/')) path.replace(0, home.size(), u'~');
  return path;
}

}  // namespace

IncomingPanel::IncomingPanel(IncomingSnaps& snaps, QWidget* parent)
    : QWidget(parent),
      m_snaps(&snaps),
      m_list(new QTreeView(this)),
      m_stack(new QStackedWidget(this)),
      m_empty(new QLabel(tr("No snaps yet. One appears here as soon as it is made."), this)),
      m_folder(new views::ElidedLabel(this)) {
  setObjectName(QStringLiteral("incoming"));
  m_list->setObjectName(QStringLiteral("incomingList"));
  m_list->setAccessibleName(tr("Incoming snaps"));
  views::prepareList(m_list, m_snaps, IncomingSnaps::kReason);
  connect(m_list, &QTreeView::clicked, this, &IncomingPanel::open);

  m_open = new QAction(views::icon(QStringLiteral("open")), tr("&Open"), this);
  // Not `activated`, which follows a click where a double click is meant.
  m_open->setShortcuts({Qt::Key_Return, Qt::Key_Enter});
  m_open->setShortcutContext(Qt::WidgetShortcut);
  m_trash = new QAction(tr("Move to &Trash\u2026"), this);
  m_trash->setShortcut(QKeySequence::Delete);
  m_trash->setShortcutContext(Qt::WidgetShortcut);
  connect(m_open, &QAction::triggered, this, [this] { open(m_list->currentIndex()); });
  connect(m_trash, &QAction::triggered, this, &IncomingPanel::askToTrash);
  m_list->addActions({m_open, m_trash});
  m_list->setContextMenuPolicy(Qt::ActionsContextMenu);

  m_empty->setWordWrap(true);
  m_empty->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  m_empty->setContentsMargins(6, 4, 6, 4);
  m_empty->setForegroundRole(QPalette::PlaceholderText);
  m_stack->addWidget(m_list);
  m_stack->addWidget(m_empty);

  auto* choose = new QToolButton(this);
  choose->setObjectName(QStringLiteral("incomingFolder"));
  choose->setText(tr("Folder\u2026"));
  choose->setToolTip(tr("Watch another folder for snaps"));
  choose->setAutoRaise(true);
  choose->setFocusPolicy(Qt::TabFocus);
  connect(choose, &QToolButton::clicked, this, &IncomingPanel::folderRequested);
  m_folder->setForegroundRole(QPalette::PlaceholderText);
  auto* strip = new QHBoxLayout;
  strip->setContentsMargins(6, 2, 2, 2);
  strip->addWidget(m_folder, 1);
  strip->addWidget(choose);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(m_stack, 1);
  layout->addLayout(strip);

  for (const auto changed : {&IncomingSnaps::rowsInserted, &IncomingSnaps::rowsRemoved})
    connect(m_snaps, changed, this, &IncomingPanel::showState);
  connect(m_snaps, &IncomingSnaps::modelReset, this, &IncomingPanel::showState);
  connect(m_snaps, &IncomingSnaps::listed, this, &IncomingPanel::showState);
  showState();
}

void IncomingPanel::showState() {
  m_stack->setCurrentWidget(m_snaps->rowCount() == 0 ? static_cast<QWidget*>(m_empty) : m_list);
  m_folder->setFullText(m_snaps->folder().isEmpty() ? tr("No folder is watched")
                                                    : withTilde(m_snaps->folder()));
  m_trash->setEnabled(m_snaps->rowCount() != 0);
  m_open->setEnabled(m_snaps->rowCount() != 0);
}

void IncomingPanel::open(const QModelIndex& index) {
  const QString file = m_snaps->fileAt(index);
  if (!file.isEmpty()) emit openRequested(file);
}

void IncomingPanel::askToTrash() {
  const QString file = m_snaps->fileAt(m_list->currentIndex());
  if (file.isEmpty()) return;
  auto* box = new QMessageBox(QMessageBox::Question, tr("Move to Trash"),
                              tr("Move %1 to the trash?").arg(QFileInfo(file).fileName()),
                              QMessageBox::NoButton, this);
  box->setInformativeText(tr("What the program did is kept in this file alone."));
  box->setAttribute(Qt::WA_DeleteOnClose);
  QPushButton* move = box->addButton(tr("Move to &Trash"), QMessageBox::AcceptRole);
  box->addButton(QMessageBox::Cancel);
  box->setDefaultButton(QMessageBox::Cancel);
  connect(move, &QPushButton::clicked, this, [this, file] { moveToTrash(file); });
  box->open();
}

bool IncomingPanel::moveToTrash(const QString& file) {
  const bool moved = QFile::moveToTrash(file);
  const QString name = QFileInfo(file).fileName();
  emit message(moved ? tr("%1 is in the trash.").arg(name)
                     : tr("%1 could not be moved to the trash: its folder may have none.").arg(name));
  m_snaps->refresh();
  return moved;
}

}  // namespace traceback::app
