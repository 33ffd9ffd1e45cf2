// What is to be recorded and how, as the wizard puts it together, and the two forms in which it is had in the
// end: a command line, and a drop-in for a service of systemd.
#pragma once

#include <QString>
#include <QStringList>

namespace traceback::app {

struct Recording {
  QStringList command;  // the program and its arguments
  QString service;  // "nginx.service"; empty if it is none
  bool ofUser = false;  // a service of the user's own manager
  QStringList only, exclude;  // patterns of file names
  QString bufferSize;  // as `traceback run --buffer-size` takes it; empty: the default
  QString policy;  // a file, as `traceback run --policy` takes it; empty: the usual one
  QString profile;  // a file, as `traceback run --profile` takes it; empty: none
  QString memory;  // what snaps keep of it, as `traceback run --memory` takes it; empty: the default
  QString snapFolder;  // empty: the default
  QStringList environment;  // NAME=VALUE
};

// The part of it behind `traceback`: run, the options, the command.
QStringList runArguments(const Recording& recording);

// For a POSIX shell, the environment in front.
QString shellCommand(const QString& traceback, const Recording& recording);
// A word as a POSIX shell reads it back.
QString shellWord(const QString& word);
// The words of a line as a POSIX shell would read them, without any expansion.
QStringList wordsOf(const QString& line);

// The text of the drop-in. Snaps and copies go into folders that systemd makes for the service, unless
// the recording names one. `traceback` is an absolute path.
QString dropIn(const QString& traceback, const Recording& recording);
// The file that it belongs into.
QString dropInFile(const Recording& recording);
// A word of ExecStart= or Environment= as systemd reads it back (systemd.syntax(7), systemd.unit(5)):
// specifiers and, in commands, variables are not expanded in it.
enum class UnitLine : std::uint8_t { Command, Environment };
QString unitWord(const QString& word, UnitLine where);

}  // namespace traceback::app
