// A debuginfod server on the loopback device, for one test (debuginfod_server.py).
#pragma once

#include <QByteArray>
#include <QProcess>
#include <QString>
#include <QTemporaryDir>

namespace traceback::test {

class DebuginfodServer {
 public:
  enum class Speed : std::uint8_t { Fast, Slow };  // slow: never comes to an end

  // The environment names it, and a cache of its own, until its end.
  explicit DebuginfodServer(Speed speed = Speed::Fast);
  ~DebuginfodServer();
  DebuginfodServer(const DebuginfodServer&) = delete;
  DebuginfodServer& operator=(const DebuginfodServer&) = delete;

  bool isReady() const { return !m_url.isEmpty(); }
  // Whether what is served is there now.
  bool serve(const QByteArray& buildId, const QString& what, const QByteArray& contents) const;
  QString cache() const { return m_folder.filePath(QStringLiteral("cache")); }
  // The paths that were asked for by now, a line each.
  QByteArray asked();

 private:
  QTemporaryDir m_folder;
  QProcess m_process;
  QByteArray m_url, m_asked;
};

}  // namespace traceback::test
