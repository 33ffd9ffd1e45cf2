#include "app/viewer/shortcuts_dialog.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTreeWidget>
#include <QVBoxLayout>

#include "views/common/list_style.h"

namespace traceback::app {
namespace {

constexpr int kCommand = 0, kKeys = 1;

QString keysText(const QAction& action) {
  QStringList keys;
  for (const QKeySequence& key : action.shortcuts()) keys.append(key.toString(QKeySequence::NativeText));
  return keys.join(QStringLiteral(", "));
}

}  // namespace

ShortcutsDialog::ShortcutsDialog(Shortcuts& shortcuts, QWidget* parent)
    : QDialog(parent),
      m_shortcuts(&shortcuts),
      m_list(new QTreeWidget(this)),
      m_edits{new QKeySequenceEdit(this), new QKeySequenceEdit(this)},
      m_note(new QLabel(this)),
      m_take(new QPushButton(tr("Use It &Here Instead"), this)),
      m_reset(new QPushButton(tr("Reset &This"), this)),
      m_resetAll(new QPushButton(tr("Reset &All"), this)) {
  setWindowTitle(tr("Keyboard Shortcuts"));
  resize(520, 620);
  views::prepareTable(m_list);
  m_list->setHeaderLabels({tr("Command"), tr("Keys")});
  m_list->setAccessibleName(tr("Commands and their keys"));
  m_list->header()->setSectionResizeMode(kCommand, QHeaderView::Stretch);
  m_list->header()->setSectionResizeMode(kKeys, QHeaderView::ResizeToContents);
  m_list->header()->setStretchLastSection(false);
  auto* explanation =
      new QLabel(tr("Single letters work wherever no text is typed. In the call tree the arrow keys move and "
                    "fold, and Enter folds or brings more."),
                 this);
  explanation->setWordWrap(true);
  m_note->setWordWrap(true);
  m_note->setTextFormat(Qt::PlainText);
  m_note->setMinimumHeight(2 * m_note->fontMetrics().height());
  auto* form = new QFormLayout;
  form->addRow(tr("&Key:"), m_edits[0]);
  form->addRow(tr("&Second key:"), m_edits[1]);
  m_edits[0]->setAccessibleName(tr("Key of the command"));
  m_edits[1]->setAccessibleName(tr("Second key of the command"));
#if QT_VERSION >= QT_VERSION_CHECK(6, 4, 0)
  for (QKeySequenceEdit* edit : m_edits) edit->setClearButtonEnabled(true);
#endif
  auto* noteRow = new QHBoxLayout;
  noteRow->addWidget(m_note, 1);
  noteRow->addWidget(m_take);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  buttons->addButton(m_reset, QDialogButtonBox::ResetRole);
  buttons->addButton(m_resetAll, QDialogButtonBox::ResetRole);
  for (QAbstractButton* button : buttons->buttons())
    if (auto* push = qobject_cast<QPushButton*>(button)) push->setAutoDefault(false);
  m_take->setAutoDefault(false);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(explanation);
  layout->addWidget(m_list, 1);
  layout->addLayout(form);
  layout->addLayout(noteRow);
  layout->addWidget(buttons);

  connect(m_list, &QTreeWidget::currentItemChanged, this, &ShortcutsDialog::showCurrent);
  for (std::size_t i = 0; i < m_edits.size(); ++i)
    connect(m_edits[i], &QKeySequenceEdit::editingFinished, this, [this, i] { typed(i); });
  connect(m_take, &QPushButton::clicked, this, &ShortcutsDialog::take);
  connect(m_reset, &QPushButton::clicked, this, [this] {
    if (QAction* action = current()) m_shortcuts->reset(action);
    fill();
  });
  connect(m_resetAll, &QPushButton::clicked, this, [this] {
    m_shortcuts->resetAll();
    fill();
  });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  for (const QAction* action : m_shortcuts->actions()) {
    auto* item = new QTreeWidgetItem(m_list, {commandName(*action), keysText(*action)});
    item->setToolTip(kCommand, action->statusTip());
  }
  m_list->setCurrentItem(m_list->topLevelItem(0));
  fill();
}

QAction* ShortcutsDialog::current() const {
  return m_shortcuts->actions().value(m_list->indexOfTopLevelItem(m_list->currentItem()));
}

void ShortcutsDialog::fill() {
  for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
    QTreeWidgetItem* item = m_list->topLevelItem(i);
    const QAction* action = m_shortcuts->actions().value(i);
    item->setText(kKeys, keysText(*action));
    QFont font = m_list->font();
    font.setBold(!m_shortcuts->isDefault(action));
    item->setFont(kKeys, font);
  }
  showCurrent();
}

void ShortcutsDialog::showCurrent() {
  const QAction* action = current();
  const QList<QKeySequence> keys = action != nullptr ? action->shortcuts() : QList<QKeySequence>();
  for (std::size_t i = 0; i < m_edits.size(); ++i) {
    const QSignalBlocker blocker(m_edits[i]);
    m_edits[i]->setKeySequence(keys.value(static_cast<qsizetype>(i)));
    m_edits[i]->setEnabled(action != nullptr);
  }
  m_note->clear();
  m_take->hide();
  m_reset->setEnabled(action != nullptr && !m_shortcuts->isDefault(action));
}

void ShortcutsDialog::typed(std::size_t number) {
  QAction* action = current();
  if (action == nullptr) return;
  // One chord: of more, the first.
  const QKeySequence all = m_edits[number]->keySequence();
  const QKeySequence key = all.count() > 1 ? QKeySequence(all[0]) : all;
  m_take->hide();
  m_note->clear();
  if (const QString why = Shortcuts::refusal(key); !why.isEmpty()) {
    showCurrent();
    m_note->setText(why);
    return;
  }
  if (const QAction* other = m_shortcuts->holder(key, action)) {
    m_conflicting = number;
    m_note->setText(tr("%1 is the key of \u201c%2\u201d.")
                        .arg(key.toString(QKeySequence::NativeText), commandName(*other)));
    m_take->show();
    return;
  }
  assign(number, key);
}

void ShortcutsDialog::assign(std::size_t number, const QKeySequence& key) {
  QAction* action = current();
  QList<QKeySequence> keys = action->shortcuts();
  const auto at = static_cast<qsizetype>(number);
  if (at < keys.size())
    keys[at] = key;
  else
    keys.append(key);
  keys.removeAll(QKeySequence());
  // The same key twice is one.
  QList<QKeySequence> once;
  for (const QKeySequence& each : keys)
    if (!once.contains(each)) once.append(each);
  m_shortcuts->setKeys(action, once);
  fill();
}

void ShortcutsDialog::take() {
  const QKeySequence all = m_edits[m_conflicting]->keySequence();
  const QKeySequence key(all[0]);
  if (QAction* other = m_shortcuts->holder(key, current())) {
    QList<QKeySequence> left = other->shortcuts();
    left.removeAll(key);
    m_shortcuts->setKeys(other, left);
  }
  assign(m_conflicting, key);
}

}  // namespace traceback::app
