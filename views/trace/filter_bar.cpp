#include "views/trace/filter_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QToolButton>

#include "views/common/formatting.h"
#include "views/common/icons.h"

namespace traceback::views {
namespace {

constexpr int kTypingMs = 200;

}  // namespace

FilterBar::FilterBar(Navigator& navigator, QWidget* parent)
    : QWidget(parent),
      m_navigator(&navigator),
      m_threads(new QComboBox(this)),
      m_modules(new QComboBox(this)),
      m_function(new QLineEdit(this)),
      m_file(new QLineEdit(this)) {
  setObjectName(QStringLiteral("filterBar"));
  m_threads->setAccessibleName(tr("Thread to show"));
  m_modules->setAccessibleName(tr("Module to show"));
  m_function->setAccessibleName(tr("Functions to show"));
  m_file->setAccessibleName(tr("Files to show"));
  m_function->setPlaceholderText(tr("Function"));
  m_file->setPlaceholderText(tr("File"));
  for (QLineEdit* edit : {m_function, m_file}) {
    edit->setClearButtonEnabled(true);
    // Not for each letter of many.
    connect(edit, &QLineEdit::textChanged, &m_typing, qOverload<>(&QTimer::start));
  }
  for (QComboBox* box : {m_threads, m_modules}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(12);
  }
  m_typing.setSingleShot(true);
  m_typing.setInterval(kTypingMs);
  connect(&m_typing, &QTimer::timeout, this, &FilterBar::changed);
  connect(m_modules, &QComboBox::currentIndexChanged, this, &FilterBar::changed);
  connect(m_threads, &QComboBox::currentIndexChanged, this, [this](int thread) {
    if (thread >= 0) m_navigator->goToThread({static_cast<std::uint32_t>(thread)});
  });
  auto* closing = new QToolButton(this);
  closing->setIcon(icon(QStringLiteral("close")));
  closing->setAutoRaise(true);
  closing->setToolTip(tr("Show everything again (Esc)"));
  closing->setAccessibleName(tr("Show everything again"));
  connect(closing, &QToolButton::clicked, this, &FilterBar::close);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(6, 3, 6, 3);
  layout->addWidget(m_threads, 1);
  layout->addWidget(m_modules, 1);
  layout->addWidget(m_function, 1);
  layout->addWidget(m_file, 1);
  layout->addWidget(closing);
  connect(m_navigator, &Navigator::traceChanged, this, &FilterBar::showTrace);
  connect(m_navigator, &Navigator::threadChanged, this, [this] {
    const QSignalBlocker blocker(m_threads);
    m_threads->setCurrentIndex(static_cast<int>(m_navigator->threadIndex().value));
  });
  hide();
}

void FilterBar::showTrace() {
  const QSignalBlocker threads(m_threads), modules(m_modules);
  const QString chosen = m_modules->currentIndex() > 0 ? m_modules->currentText() : QString();
  m_threads->clear();
  m_modules->clear();
  m_modules->addItem(tr("All modules"));
  const auto& trace = m_navigator->trace();
  if (!trace) return;
  for (std::size_t i = 0; i < trace->threads.size(); ++i)
    m_threads->addItem(threadName(trace->threads[i]->info(), i + 1));
  for (const model::Module& module : trace->modules) m_modules->addItem(QString::fromStdString(module.name));
  m_threads->setCurrentIndex(static_cast<int>(m_navigator->threadIndex().value));
  m_modules->setCurrentIndex(chosen.isEmpty() ? 0 : std::max(0, m_modules->findText(chosen)));
}

TraceFilter FilterBar::filter() const {
  TraceFilter filter;
  if (isHidden()) return filter;
  if (m_modules->currentIndex() > 0)
    filter.module = model::ModuleId{static_cast<std::uint32_t>(m_modules->currentIndex() - 1)};
  filter.function = m_function->text().trimmed();
  filter.file = m_file->text().trimmed();
  return filter;
}

void FilterBar::open() {
  show();
  m_function->setFocus();
  m_function->selectAll();
  emit changed();
  emit opened();
}

void FilterBar::close() {
  hide();
  emit changed();
  emit closed();
}

void FilterBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) return close();
  QWidget::keyPressEvent(event);
}

}  // namespace traceback::views
