#include "app/viewer/source_folders_dialog.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFormLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <utility>

#include "views/common/formatting.h"
#include "views/common/list_style.h"

namespace traceback::app {
namespace {

constexpr int kFrom = 0, kTo = 1, kNow = 2;
constexpr int kSettledMs = 200;

bool isComplete(const SourceMapping& mapping) { return !mapping.from.isEmpty() && !mapping.to.isEmpty(); }

QString reachText(const SourceReach::Folder& folder) {
  if (!folder.exists) return SourceFoldersDialog::tr("no such folder");
  if (folder.files == 0) return SourceFoldersDialog::tr("no file of this trace was compiled there");
  if (folder.found == 0)
    return folder.files == 1
               ? SourceFoldersDialog::tr("the one file is not there")
               : SourceFoldersDialog::tr("none of %1 files is there").arg(views::count(folder.files));
  QString found =
      SourceFoldersDialog::tr("%1 of %2 files").arg(views::count(folder.found), views::count(folder.files));
  if (folder.first == folder.found) return found;
  return SourceFoldersDialog::tr("%1, %2 of them also by a row above")
      .arg(found, views::count(folder.found - folder.first));
}

}  // namespace

SourceFoldersDialog::SourceFoldersDialog(QList<SourceMapping> mappings, qsizetype fixed,
                                         std::shared_ptr<const model::Trace> trace, ReachFunction reach,
                                         QWidget* parent)
    : QDialog(parent),
      m_mappings(std::move(mappings)),
      m_fixed(fixed),
      m_trace(std::move(trace)),
      m_reach(std::move(reach)),
      m_list(new QTreeWidget(this)),
      m_from(new QLineEdit(this)),
      m_to(new QLineEdit(this)),
      m_browse(new QPushButton(tr("&Browse\u2026"), this)),
      m_add(new QPushButton(tr("&Add"), this)),
      m_remove(new QPushButton(tr("&Remove"), this)),
      m_up(new QPushButton(tr("Move &Up"), this)),
      m_down(new QPushButton(tr("Move &Down"), this)),
      m_summary(new QLabel(this)) {
  setWindowTitle(tr("Source Folders"));
  resize(720, 420);
  auto* explanation =
      new QLabel(tr("Sources that were compiled in one folder and are in another now. The first row that "
                    "leads to a file "
                    "counts; where checksums are known, the first that leads to the file that was compiled."),
                 this);
  explanation->setWordWrap(true);
  views::prepareTable(m_list);
  m_list->setHeaderLabels({tr("Compiled in"), tr("Is in"), tr("Leads to now")});
  m_list->setTextElideMode(Qt::ElideMiddle);
  m_list->setAccessibleName(tr("Source folders"));
  m_list->header()->setStretchLastSection(false);
  m_list->header()->setSectionResizeMode(kFrom, QHeaderView::Stretch);
  m_list->header()->setSectionResizeMode(kTo, QHeaderView::Stretch);
  m_list->header()->setSectionResizeMode(kNow, QHeaderView::ResizeToContents);
  m_from->setAccessibleName(tr("Folder that sources were compiled in"));
  m_to->setAccessibleName(tr("Folder that they are in"));
  m_from->setPlaceholderText(tr("as the debug information has it, such as /build/project"));
  m_browse->setToolTip(tr("Choose the folder that they are in"));
  m_summary->setWordWrap(true);
  auto* toRow = new QHBoxLayout;
  toRow->addWidget(m_to, 1);
  toRow->addWidget(m_browse);
  auto* form = new QFormLayout;
  form->addRow(tr("&Compiled in:"), m_from);
  form->addRow(tr("&Is in:"), toRow);
  // What a label's key leads to is a widget, not a row of them.
  if (auto* label = qobject_cast<QLabel*>(form->labelForField(toRow))) label->setBuddy(m_to);
  auto* rows = new QVBoxLayout;
  for (QPushButton* button : {m_add, m_remove, m_up, m_down}) rows->addWidget(button);
  rows->addStretch(1);
  for (QPushButton* button : {m_browse, m_add, m_remove, m_up, m_down}) button->setAutoDefault(false);
  auto* middle = new QHBoxLayout;
  middle->addWidget(m_list, 1);
  middle->addLayout(rows);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  for (QAbstractButton* button : buttons->buttons())
    if (auto* push = qobject_cast<QPushButton*>(button)) push->setAutoDefault(false);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(explanation);
  layout->addLayout(middle, 1);
  layout->addLayout(form);
  layout->addWidget(m_summary);
  layout->addWidget(buttons);

  connect(m_list, &QTreeWidget::currentItemChanged, this, &SourceFoldersDialog::showCurrent);
  for (QLineEdit* edit : {m_from, m_to})
    connect(edit, &QLineEdit::textEdited, this, &SourceFoldersDialog::edited);
  connect(m_browse, &QPushButton::clicked, this, &SourceFoldersDialog::browse);
  connect(m_add, &QPushButton::clicked, this, &SourceFoldersDialog::add);
  connect(m_remove, &QPushButton::clicked, this, &SourceFoldersDialog::remove);
  connect(m_up, &QPushButton::clicked, this, [this] { move(-1); });
  connect(m_down, &QPushButton::clicked, this, [this] { move(1); });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  m_settled.setSingleShot(true);
  m_settled.setInterval(kSettledMs);
  connect(&m_settled, &QTimer::timeout, this, &SourceFoldersDialog::tell);
  connect(this, &QDialog::finished, this, [this] {
    if (m_settled.isActive()) tell();
  });
  fill();
  select(m_mappings.isEmpty() ? -1 : 0);
  showCurrent();
  look();
}

qsizetype SourceFoldersDialog::current() const { return m_list->indexOfTopLevelItem(m_list->currentItem()); }

void SourceFoldersDialog::select(qsizetype row) {
  m_list->setCurrentItem(m_list->topLevelItem(static_cast<int>(row)));
}

void SourceFoldersDialog::fill() {
  const QSignalBlocker blocker(m_list);
  m_list->clear();
  for (qsizetype i = 0; i < m_mappings.size(); ++i) {
    auto* item = new QTreeWidgetItem(m_list, {m_mappings[i].from, m_mappings[i].to, QString()});
    item->setToolTip(kFrom, m_mappings[i].from);
    item->setToolTip(kTo, m_mappings[i].to);
    if (i >= m_fixed) continue;
    QFont font = m_list->font();
    font.setItalic(true);
    for (const int column : {kFrom, kTo}) {
      item->setFont(column, font);
      item->setToolTip(column, tr("%1\nfrom the command line").arg(item->text(column)));
    }
  }
}

void SourceFoldersDialog::showCurrent() {
  const qsizetype row = current();
  const bool ours = row >= m_fixed;
  const SourceMapping mapping = row >= 0 ? m_mappings[row] : SourceMapping();
  for (const auto& [edit, text] : {std::pair(m_from, mapping.from), std::pair(m_to, mapping.to)}) {
    if (edit->text() != text) edit->setText(text);
    edit->setEnabled(row >= 0);
    edit->setReadOnly(!ours);
  }
  m_browse->setEnabled(ours);
  m_remove->setEnabled(ours);
  m_up->setEnabled(ours && row > m_fixed);
  m_down->setEnabled(ours && row + 1 < m_mappings.size());
}

void SourceFoldersDialog::edited() {
  const qsizetype row = current();
  if (row < m_fixed) return;
  m_mappings[row] = {m_from->text().trimmed(), m_to->text().trimmed()};
  QTreeWidgetItem* item = m_list->topLevelItem(static_cast<int>(row));
  item->setText(kFrom, m_mappings[row].from);
  item->setText(kTo, m_mappings[row].to);
  item->setText(kNow, QString());
  m_settled.start();
}

void SourceFoldersDialog::add() {
  m_mappings.append(SourceMapping());
  fill();
  select(m_mappings.size() - 1);
  m_from->setFocus();
  look();
}

void SourceFoldersDialog::remove() {
  const qsizetype row = current();
  if (row < m_fixed) return;
  m_mappings.removeAt(row);
  fill();
  select(std::min(row, m_mappings.size() - 1));
  showCurrent();
  tell();
}

void SourceFoldersDialog::move(qsizetype by) {
  const qsizetype row = current();
  if (row < m_fixed || row + by < m_fixed || row + by >= m_mappings.size()) return;
  m_mappings.swapItemsAt(row, row + by);
  fill();
  select(row + by);
  tell();
}

void SourceFoldersDialog::browse() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Where are they?"), m_to->text());
  if (folder.isEmpty()) return;
  m_to->setText(folder);
  edited();
}

void SourceFoldersDialog::tell() {
  m_settled.stop();
  QList<SourceMapping> complete;
  for (const SourceMapping& mapping : m_mappings.sliced(m_fixed))
    if (isComplete(mapping)) complete.append(mapping);
  emit changed(complete);
  look();
}

void SourceFoldersDialog::look() {
  if (!m_trace || !m_reach) {
    m_summary->setText(m_trace ? QString() : tr("No trace is open that they could lead to sources of."));
    return;
  }
  auto reach = std::make_shared<SourceReach>();
  m_looking.start([reach, mappings = m_mappings, trace = m_trace, function = m_reach](
                      std::stop_token stop) { *reach = function(mappings, *trace, std::move(stop)); },
                  [this, reach] { showReach(*reach); });
}

void SourceFoldersDialog::showReach(const SourceReach& reach) {
  for (qsizetype i = 0; i < m_mappings.size() && std::cmp_less(i, reach.folders.size()); ++i) {
    const SourceReach::Folder& folder = reach.folders[static_cast<std::size_t>(i)];
    QTreeWidgetItem* item = m_list->topLevelItem(static_cast<int>(i));
    item->setText(kNow, isComplete(m_mappings[i]) ? reachText(folder) : tr("not filled in yet"));
    item->setToolTip(kNow, folder.missing.isEmpty()
                               ? QString()
                               : tr("Not there, for example:\n%1").arg(folder.missing.join(u'\n')));
  }
  m_summary->setText(tr("%1 of the %2 source files of this trace are found.")
                         .arg(views::count(reach.found), views::count(reach.files)));
}

}  // namespace traceback::app
