// Opens a source file at a line in the user's editor.
#pragma once

#include <QString>
#include <QStringList>
#include <expected>

namespace traceback::app {

// The program and its arguments. In a command, %f stands for the file and %l for the line; without %f the
// file comes last. Empty if the command is.
QStringList editorCommand(const QString& command, const QString& file, int line);

// The command that is used while the user chose none: $VISUAL or $EDITOR with what that editor takes for a
// line, or, where that is one for a terminal or there is none, the desktop's choice, which knows no lines.
QString defaultEditor();

// An error says which program could not be started.
std::expected<void, QString> openInEditor(const QString& command, const QString& file, int line);

}  // namespace traceback::app
