#include "tests/loader/symbols/debuginfod_server.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace traceback::test {

DebuginfodServer::DebuginfodServer(Speed speed) {
  QStringList arguments{QStringLiteral(DEBUGINFOD_SERVER), m_folder.filePath(QStringLiteral("served"))};
  if (speed == Speed::Slow) arguments << QStringLiteral("slow");
  m_process.start(QStringLiteral("python3"), arguments);
  while (!m_process.canReadLine() && m_process.waitForReadyRead(30'000)) continue;
  const QByteArray port = m_process.readLine().trimmed();
  if (port.isEmpty()) return;
  m_url = "http://127.0.0.1:" + port;
  qputenv("DEBUGINFOD_URLS", m_url);
  qputenv("DEBUGINFOD_CACHE_PATH", QFile::encodeName(cache()));
  qunsetenv("http_proxy");
}

DebuginfodServer::~DebuginfodServer() {
  qunsetenv("DEBUGINFOD_URLS");
  m_process.kill();
  m_process.waitForFinished();
}

bool DebuginfodServer::serve(const QByteArray& buildId, const QString& what,
                             const QByteArray& contents) const {
  const QString path =
      m_folder.filePath(QStringLiteral("served/buildid/%1/%2").arg(QString::fromLatin1(buildId), what));
  QFile file(path);
  return QDir().mkpath(QFileInfo(path).path()) && file.open(QIODevice::WriteOnly) &&
         file.write(contents) == contents.size();
}

QByteArray DebuginfodServer::asked() {
  m_process.waitForReadyRead(0);
  m_asked += m_process.readAllStandardOutput();
  return m_asked;
}

}  // namespace traceback::test
