// Runs the `traceback` program as a user would, with folders of its own.
#pragma once

#include <QByteArray>
#include <QProcessEnvironment>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <functional>

namespace traceback::test {

struct Ran {
  int status = -1;       // exit status; 128 + the signal's number if one ended it, as shells count
  QByteArray out, err;

  bool complainsInOneLine() const {
    return err.startsWith("traceback: ") && err.count('\n') == 1 && err.endsWith('\n');
  }
};

// Any program. `before` runs in the new process, and may only make system calls.
Ran run(const QString& program, const QStringList& arguments, const QProcessEnvironment& environment,
        const std::function<void()>& before = {});

class CommandLine {
 public:
  CommandLine();
  bool isReady() const { return m_folder.isValid() && m_rings.isValid(); }

  Ran traceback(const QStringList& arguments) const { return run(program(), arguments, m_environment); }
  // Through a shell, in which "$@" is the program and its arguments: for limits and redirections.
  Ran throughShell(const QString& script, const QStringList& arguments) const;

  static QString program();
  QString folder() const { return m_folder.path(); }  // empty at first, but for what XDG folders come to hold
  QString path(const QString& name) const { return m_folder.filePath(name); }
  QString snapFolder() const { return path("state/traceback"); }
  QStringList snaps() const;  // full paths
  QProcessEnvironment& environment() { return m_environment; }
  const QProcessEnvironment& environment() const { return m_environment; }

 private:
  QTemporaryDir m_folder;
  QTemporaryDir m_rings;
  QProcessEnvironment m_environment;
};

// For `before`: standard error becomes a pipe of which nobody reads.
void giveErrorsToNobody();

QByteArray readFile(const QString& path);
bool writeFile(const QString& path, const QByteArray& bytes, bool executable = false);
// Names of what is in a folder, at any depth.
QStringList listing(const QString& folder);
// Where the kernel does not trust the processor's counter, times are not known, and said not to be.
bool timesAreKnown();

}  // namespace traceback::test
