// Fields of several lines, as the pages of the wizard have them.
#pragma once

#include <QStringList>

class QPlainTextEdit;
class QWidget;

namespace traceback::app {

// So many lines high; Tab leaves it.
QPlainTextEdit* linesField(int lines, QWidget* parent);
// The same in the fixed-width font, to be read and copied.
QPlainTextEdit* textToCopy(int lines, QWidget* parent);
// What is in it, without empty lines and blanks around.
QStringList linesIn(const QPlainTextEdit& field);

}  // namespace traceback::app
