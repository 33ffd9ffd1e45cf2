// Running a test program with the runtime preloaded, with folders of its own for rings and snaps.
#pragma once

#include <QProcess>
#include <QStringList>
#include <QTemporaryDir>
#include <filesystem>
#include <memory>
#include <vector>

#include "ring_dump.h"

namespace traceback::testing {

struct Outcome {
  bool killed = false;
  int status = 0;  // the exit status, or the signal
  QByteArray output, errors;
};

// With QTest: what the program did is the same.
#define COMPARE_OUTCOMES(actual, expected)        \
  do {                                            \
    QCOMPARE((actual).output, (expected).output); \
    QCOMPARE((actual).killed, (expected).killed); \
    QCOMPARE((actual).status, (expected).status); \
  } while (false)

class TracedRun {
 public:
  explicit TracedRun(QString program = QStringLiteral("traced"));

  // Environment for the program beyond what `traceback run` sets.
  void setVariable(const QString& name, const QString& value) { m_variables.emplace_back(name, value); }
  void setTraced(bool traced) { m_traced = traced; }

  Outcome run(const QStringList& arguments);
  // Starts it and leaves it running.
  std::unique_ptr<QProcess> start(const QStringList& arguments);
  static Outcome finish(QProcess& process);

  std::filesystem::path ringFolder() const;
  std::filesystem::path snapFolder() const;
  // What the processes left.
  std::vector<std::filesystem::path> processFolders() const;
  std::vector<std::filesystem::path> snaps() const;
  // The rings of a folder, in the order in which they were made.
  static std::vector<RingDump> rings(const std::filesystem::path& processFolder);
  // The memory that its rings have, in KiB each.
  static std::vector<std::uint64_t> ringMemory(const std::filesystem::path& processFolder);
  static format::ProcessHeader process(const std::filesystem::path& processFolder);

  static QString programPath(const QString& name);
  static QString runtimePath();

 private:
  QTemporaryDir m_folder;
  QString m_program;
  bool m_traced = true;
  std::vector<std::pair<QString, QString>> m_variables;
};

}  // namespace traceback::testing
