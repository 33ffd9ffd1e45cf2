#include "views/values/values_panel.h"

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QHideEvent>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <ranges>

#include "views/common/formatting.h"
#include "views/common/list_style.h"
#include "views/trace/trace_delegate.h"
#include "views/values/values_model.h"

namespace traceback::views {
namespace {

constexpr int kWithTypes = 48;  // letters wide

QString frameTitle(const model::FrameValues& frame) {
  const QString function =
      frame.function.empty() ? hex(frame.address) : QString::fromStdString(frame.function);
  QString title = QStringLiteral("%1  %2").arg(frame.level).arg(function);
  if (frame.line != 0) title += QStringLiteral("  %1:%2").arg(fileName(frame.file)).arg(frame.line);
  return frame.isInlined ? ValuesPanel::tr("%1  [inlined]").arg(title) : title;
}

// Where its values are best looked at: of who gave up, at the call that is shown first.
std::optional<model::EntryIndex> endOf(const model::ThreadTrace& thread) {
  return thread.info().atFault ? model::initialPosition(thread) : model::finalPosition(thread);
}

// The frame that the cursor is in; the innermost if that is not known, or was left meanwhile.
std::size_t frameAt(const Navigator& navigator, const model::ThreadValues& values) {
  const auto entry = navigator.entry();
  const model::SourceFile* file = entry && entry->line != 0 ? navigator.trace()->file(entry->file) : nullptr;
  if (file == nullptr) return 0;
  const QString name = fileName(file->path);
  const auto found = std::ranges::find_if(values.frames, [&](const model::FrameValues& frame) {
    return frame.line == entry->line && fileName(frame.file) == name;
  });
  return found == values.frames.end() ? 0 : static_cast<std::size_t>(found - values.frames.begin());
}

}  // namespace

bool standsAtEnd(const Navigator& navigator) {
  const model::ThreadTrace* thread = navigator.thread();
  const auto entry = navigator.entryIndex();
  return thread != nullptr && entry && !thread->info().ended &&
         (entry == model::finalPosition(*thread) || entry == endOf(*thread));
}

QString valueAtEnd(const Navigator& navigator, EndValues& values, const QString& name) {
  if (name.isEmpty() || !values.hasProvider() || !standsAtEnd(navigator)) return {};
  const std::uint32_t tid = navigator.thread()->info().tid;
  const model::ThreadValues* thread = values.of(tid);
  if (thread == nullptr) {
    values.ask(tid);
    return {};
  }
  const std::string wanted = name.toStdString();
  for (const model::FrameValues& frame : thread->frames | std::views::drop(frameAt(navigator, *thread))) {
    for (const auto* variables : {&frame.locals, &frame.arguments})
      for (const model::Value& value : *variables)
        if (value.name == wanted)
          return ValuesPanel::tr("%1 = %2  (at the end)").arg(name, QString::fromStdString(value.text));
    // Those into which it was inlined are of the same function, as it is shown.
    if (!frame.isInlined) break;
  }
  return {};
}

ValuesPanel::ValuesPanel(Navigator& navigator, EndValues& values, QWidget* parent)
    : QWidget(parent),
      m_navigator(&navigator),
      m_values(&values),
      m_model(new ValuesModel(this)),
      m_frames(new QComboBox(this)),
      m_message(new QLabel(this)),
      m_button(new QPushButton(tr("Go to the &End"), this)),
      m_list(new QTreeView(this)) {
  setObjectName(QStringLiteral("values"));
  setAccessibleName(tr("Values at the end"));
  m_frames->setAccessibleName(tr("Frame"));
  m_frames->setToolTip(tr("The frame whose variables are shown; 0 is the innermost"));
  m_frames->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_message->setWordWrap(true);
  m_message->setMargin(5);
  m_message->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  prepareList(m_list, m_model, ValuesModel::kValue);
  m_list->setAccessibleName(tr("Variables and registers"));
  m_list->setRootIsDecorated(true);
  m_list->setIndentation(fontMetrics().horizontalAdvance(u'n') * 2);
  m_list->header()->show();
  m_list->header()->setSectionResizeMode(ValuesModel::kName, QHeaderView::Interactive);
  m_list->header()->setSectionResizeMode(ValuesModel::kType, QHeaderView::Interactive);
  m_list->header()->resizeSection(ValuesModel::kName, fontMetrics().horizontalAdvance(u'n') * 16);
  m_list->header()->resizeSection(ValuesModel::kType, fontMetrics().horizontalAdvance(u'n') * 10);
  auto* copying = new QAction(tr("&Copy"), this);
  copying->setShortcut(QKeySequence::Copy);
  copying->setShortcutContext(Qt::WidgetWithChildrenShortcut);
  connect(copying, &QAction::triggered, this, &ValuesPanel::copy);
  m_list->addAction(copying);
  m_list->setContextMenuPolicy(Qt::ActionsContextMenu);

  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  auto* line = new QHBoxLayout;
  line->addWidget(m_message, 1);
  line->addWidget(m_button, 0, Qt::AlignVCenter);
  line->setContentsMargins(0, 0, 5, 0);
  layout->addWidget(m_frames);
  layout->addLayout(line);
  layout->addWidget(m_list, 1);
  layout->addStretch(0);

  connect(m_button, &QPushButton::clicked, this, &ValuesPanel::act);
  connect(m_frames, &QComboBox::currentIndexChanged, this, &ValuesPanel::showFrame);
  connect(&values, &EndValues::changed, this, [this] {
    m_shown = nullptr;
    refresh();
  });
  for (const auto signal : {&Navigator::traceChanged, &Navigator::threadChanged, &Navigator::moved})
    connect(m_navigator, signal, this, &ValuesPanel::refresh);
  refresh();
}

QSize ValuesPanel::sizeHint() const {
  return {fontMetrics().horizontalAdvance(u'n') * 34, TraceDelegate::rowHeight() * 12};
}

QString ValuesPanel::message() const { return m_message->isHidden() ? QString() : m_message->text(); }

// What a value is of is said by the mouse, too; what it is comes first.
void ValuesPanel::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_list->setColumnHidden(ValuesModel::kType, width() < fontMetrics().horizontalAdvance(u'n') * kWithTypes);
}

void ValuesPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
}

void ValuesPanel::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  // Nobody waits for them any more.
  if (m_values && !event->spontaneous()) m_values->cancel();
}

void ValuesPanel::refresh() {
  // Stepping costs nothing where nobody looks.
  if (!m_values || !isVisible()) return;
  const model::ThreadTrace* thread = m_navigator->thread();
  if (thread == nullptr || !m_values->hasProvider()) return say(tr("This trace has no values."));
  if (thread->info().ended) return say(tr("The thread had ended when the snap was made."));
  if (!standsAtEnd(*m_navigator))
    return say(
        tr("A trace holds no values. They are known only where the thread stood when the snap was made."),
        tr("Go to the &End"));
  const std::uint32_t tid = thread->info().tid;
  if (const QString problem = m_values->problem(tid); !problem.isEmpty()) return say(problem);
  if (const model::ThreadValues* values = m_values->of(tid)) return showValues(*values);
  if (!m_values->isLoading(tid)) {
    m_values->ask(tid);  // comes back here
    return;
  }
  say(tr("Reading the values\u2026"), tr("&Cancel"));
}

void ValuesPanel::say(const QString& text, const QString& action) {
  m_shown = nullptr;
  m_model->clear();
  m_frames->hide();
  m_list->hide();
  m_message->setText(text);
  m_message->show();
  if (!action.isEmpty()) m_button->setText(action);
  m_button->setVisible(!action.isEmpty());
}

void ValuesPanel::showValues(const model::ThreadValues& thread) {
  if (m_shown == &thread) return;
  m_shown = &thread;
  QStringList notes;
  for (const auto& note : thread.notes) notes.append(QString::fromStdString(note));
  if (thread.more) notes.append(tr("Further frames are not shown."));
  m_message->setText(notes.join(u'\n'));
  m_message->setVisible(!notes.isEmpty());
  m_button->hide();
  {
    const QSignalBlocker quiet(m_frames);
    m_frames->clear();
    for (const model::FrameValues& frame : thread.frames) m_frames->addItem(frameTitle(frame));
  }
  m_frames->setVisible(!thread.frames.empty());
  m_list->setVisible(!thread.frames.empty());
  const int frame = static_cast<int>(frameAt(*m_navigator, thread));
  {
    const QSignalBlocker quiet(m_frames);
    m_frames->setCurrentIndex(frame);
  }
  showFrame(frame);
}

void ValuesPanel::showFrame(int index) {
  if (m_shown == nullptr || index < 0 || static_cast<std::size_t>(index) >= m_shown->frames.size())
    return m_model->clear();
  const auto& frame = m_shown->frames[static_cast<std::size_t>(index)];
  m_model->setFrame(frame);
  for (int row = 0; row < m_model->rowCount(); ++row) {
    const QModelIndex group = m_model->index(row, 0);
    m_list->setFirstColumnSpanned(row, {}, true);
    // Of registers people want few.
    if (row + 1 < m_model->rowCount() || frame.registers.empty() || m_model->rowCount() == 1)
      m_list->expand(group);
  }
  if (m_model->rowCount() > 0) m_list->setCurrentIndex(m_model->index(0, 0));
}

void ValuesPanel::act() {
  const model::ThreadTrace* thread = m_navigator->thread();
  if (thread == nullptr) return;
  if (!standsAtEnd(*m_navigator)) {
    if (const auto end = endOf(*thread))
      m_navigator->goTo(m_navigator->threadIndex(), *end, Navigator::Remember::Yes);
    return;
  }
  if (m_values->isLoading(thread->info().tid)) {
    {
      const QSignalBlocker quiet(m_values.data());
      m_values->cancel();
    }
    say(tr("Reading was cancelled."), tr("&Read the Values"));
    return;
  }
  m_values->ask(thread->info().tid);
}

void ValuesPanel::copy() {
  const QModelIndex index = m_list->currentIndex();
  if (index.isValid()) QGuiApplication::clipboard()->setText(m_model->textOf(index));
}

}  // namespace traceback::views
