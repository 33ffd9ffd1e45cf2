#include "app/viewer/export_dialog.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>

namespace traceback::app {
namespace {

struct Format {
  model::ExportFormat format;
  const char* title;
  const char* suffix;
};
constexpr Format kFormats[] = {
    {model::ExportFormat::Html, QT_TRANSLATE_NOOP("traceback::app::ExportDialog", "Web page"), ".html"},
    {model::ExportFormat::Text, QT_TRANSLATE_NOOP("traceback::app::ExportDialog", "Text"), ".txt"},
    {model::ExportFormat::Json, QT_TRANSLATE_NOOP("traceback::app::ExportDialog", "JSON, an object a line"),
     ".jsonl"},
    {model::ExportFormat::Perfetto, QT_TRANSLATE_NOOP("traceback::app::ExportDialog", "Perfetto trace"),
     ".json"},
};

const Format& chosen(const QComboBox* box) { return kFormats[std::max(0, box->currentIndex())]; }

}  // namespace

ExportDialog::ExportDialog(std::vector<Scope> scopes, QWidget* parent)
    : QDialog(parent),
      m_scopes(std::move(scopes)),
      m_formats(new QComboBox(this)),
      m_what(new QComboBox(this)) {
  setWindowTitle(tr("Export"));
  setMinimumWidth(fontMetrics().horizontalAdvance(u'n') * 48);
  for (const Format& each : kFormats) m_formats->addItem(tr(each.title));
  for (const Scope& each : m_scopes) m_what->addItem(each.title);
  m_formats->setAccessibleName(tr("Format"));
  m_what->setAccessibleName(tr("What to export"));
  auto* hint = new QLabel(this);
  hint->setWordWrap(true);
  const auto explain = [this, hint] {
    hint->setText(
        format() == model::ExportFormat::Perfetto
            ? tr("For ui.perfetto.dev. Times between two readings of the clock are interpolated; the order "
                 "is as recorded.")
            : QString());
  };
  connect(m_formats, &QComboBox::currentIndexChanged, this, explain);
  explain();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel, this);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  auto* form = new QFormLayout(this);
  form->addRow(tr("&What:"), m_what);
  form->addRow(tr("&As:"), m_formats);
  form->addRow(hint);
  form->addRow(buttons);
  // As high as the words need, whatever they are.
  form->setSizeConstraint(QLayout::SetMinimumSize);
}

model::ExportFormat ExportDialog::format() const { return chosen(m_formats).format; }

const std::vector<model::ExportRange>& ExportDialog::ranges() const {
  return m_scopes[static_cast<std::size_t>(std::max(0, m_what->currentIndex()))].ranges;
}

QString ExportDialog::suffix() const { return QString::fromLatin1(chosen(m_formats).suffix); }

QString ExportDialog::nameFilter() const {
  return QStringLiteral("%1 (*%2)").arg(tr(chosen(m_formats).title), suffix());
}

}  // namespace traceback::app
