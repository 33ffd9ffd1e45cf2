// Compiles a few lines at test time: tests then show what they are about.
#pragma once

#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <QTest>

namespace traceback::tests {

// Empty, or what the compiler said.
inline QString build(const QString& compiler, const QStringList& sources, const QString& output,
                     const QStringList& flags) {
  QProcess process;
  process.setProcessChannelMode(QProcess::MergedChannels);
  process.setWorkingDirectory(QFileInfo(output).path());
  process.start(compiler, QStringList{"-o", output} + sources + flags);
  if (!process.waitForFinished(120'000)) return process.errorString();
  const QString said = QString::fromUtf8(process.readAll());
  return process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0 ? QString()
                                                                                 : "fails: " + said;
}

// The same from text. The compiler takes it by the name given.
inline QString compile(const QString& compiler, const QString& source, const QString& sourcePath,
                       const QString& output, const QStringList& flags) {
  QFile file(sourcePath);
  if (!file.open(QIODevice::WriteOnly)) return "cannot write " + sourcePath;
  file.write(source.toUtf8());
  file.close();
  return build(compiler, {sourcePath}, output, flags);
}

}  // namespace traceback::tests
