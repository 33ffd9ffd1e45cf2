// The product, as a user has it: `traceback instrument`, the runtime in the program's environment, and
// `traceback recover`. Every run has folders of its own, on a memory file system.
#pragma once

#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <expected>

namespace traceback::truth {

// A part of the error where a command was given up: that says nothing of what it did.
inline constexpr char kTooSlow[] = "does not end in time";

template <typename T>
using Attempt = std::expected<T, QString>;

struct Ended {
  QByteArray output;      // standard output
  QByteArray complaints;  // standard error
  int exitCode = 0;
  int signal = 0;         // that ended it; 0 if it ended by itself
};

class ProductRun {
 public:
  // Instruments the program into a file of the same name in a folder of this run. No program: a run of the
  // original, with nothing of the product.
  static Attempt<std::unique_ptr<ProductRun>> prepare(const QString& program,
                                                      const QStringList& options = {});

  QString program() const { return m_program; }
  // Environment that makes the program record.
  QProcessEnvironment environment() const;
  // What of it the program sees: the rest the runtime takes out of its sight.
  QProcessEnvironment plainEnvironment() const;
  QString snapFolder() const { return m_folder.filePath("snaps"); }
  QString ringFolder() const { return m_folder.filePath("run/traceback"); }
  QString file(const QString& name) const { return m_folder.filePath(name); }

  // Runs it to its end without address randomization; `killedAtItsEnd` as end_by_kill.c has it.
  Attempt<Ended> run(const QStringList& arguments, bool killedAtItsEnd, int timeoutMs = 60000) const;
  // The one snap that the run left, or that can be recovered from what it left.
  Attempt<QString> snap() const;
  // All that were left, by this process and its children, and all that can be recovered.
  Attempt<QStringList> allSnaps() const;
  // Of the process while it lives.
  Attempt<QString> snapOf(qint64 pid) const;

 private:
  explicit ProductRun(const QString& program);
  Attempt<void> recover() const;
  QStringList presentSnaps() const;

  QTemporaryDir m_folder;
  QString m_original, m_program;
};

// Runs a command to its end; an error if it does not end in time.
Attempt<Ended> runToEnd(const QString& command, const QStringList& arguments,
                        const QProcessEnvironment& environment, int timeoutMs = 60000);
// The same without randomized addresses.
Attempt<Ended> runInPlace(const QString& command, const QStringList& arguments,
                          const QProcessEnvironment& environment, int timeoutMs = 60000);

}  // namespace traceback::truth
