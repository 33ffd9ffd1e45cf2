// Snaps of tests/app/programs/compare_runs.cpp, recorded as a user would.
#pragma once

#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>

#include "tests/app/command_line.h"

namespace traceback::test {

// The snap's name; empty if there is none. `name` is what it is called.
inline QString recordRun(const CommandLine& line, const QString& name, const QStringList& arguments) {
  const QStringList before = line.snaps();
  line.throughShell(QStringLiteral("ulimit -c 0; exec \"$@\""),
                    QStringList{"run", "--only", "*compare_runs", "--", COMPARE_RUNS_PROGRAM} + arguments);
  QStringList snaps = line.snaps();
  for (const QString& old : before) snaps.removeAll(old);
  const QString kept = line.path(name + QStringLiteral(".tbsnap"));
  return snaps.size() == 1 && QFile::rename(snaps.first(), kept) ? kept : QString();
}

// An option that finds the source, though a compiler's cache may have made the program in another folder.
inline QStringList whereTheSourceIs(const CommandLine& line, const QString& snap) {
  for (const QByteArray& each : line.traceback({"print", "--format", "json", snap}).out.split('\n')) {
    const QString file = QJsonDocument::fromJson(each).object()["file"].toString();
    if (!file.endsWith("/compare_runs.cpp")) continue;
    return {"--source-path", file + u'=' + QStringLiteral(COMPARE_RUNS_SOURCE)};
  }
  return {};
}

}  // namespace traceback::test
