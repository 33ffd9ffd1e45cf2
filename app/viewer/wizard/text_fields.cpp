#include "app/viewer/wizard/text_fields.h"

#include <QPlainTextEdit>

#include "views/common/theme.h"

namespace traceback::app {
namespace {

void setHeight(QPlainTextEdit* field, int lines) {
  const int frame = 2 * (field->frameWidth() + static_cast<int>(field->document()->documentMargin()));
  field->setFixedHeight(field->fontMetrics().lineSpacing() * lines + frame + 2);
}

}  // namespace

QPlainTextEdit* linesField(int lines, QWidget* parent) {
  auto* field = new QPlainTextEdit(parent);
  field->setTabChangesFocus(true);
  setHeight(field, lines);
  return field;
}

QPlainTextEdit* textToCopy(int lines, QWidget* parent) {
  auto* field = new QPlainTextEdit(parent);
  field->setTabChangesFocus(true);
  field->setReadOnly(true);
  field->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  field->setFont(views::codeFont());
  setHeight(field, lines);
  return field;
}

QStringList linesIn(const QPlainTextEdit& field) {
  QStringList lines;
  for (const QString& line : field.toPlainText().split(u'\n'))
    if (!line.trimmed().isEmpty()) lines << line.trimmed();
  return lines;
}

}  // namespace traceback::app
