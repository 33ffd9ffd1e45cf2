#include "app/viewer/file_sources.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "loader/symbols/debuginfod.h"
#include "loader/symbols/source_finder.h"

namespace traceback::app {
namespace {

// More than any source; a file of this size is something else.
constexpr qint64 kLargest = 64 << 20;

class FileSources : public views::SourceProvider {
 public:
  explicit FileSources(loader::SourceFinder finder) : m_finder(std::move(finder)) {}

  // Of several files the one that was compiled, if the checksums tell which that is.
  std::optional<views::SourceText> source(const model::SourceFile& file) override {
    std::optional<views::SourceText> best;
    for (const std::string& path : candidates(file.path)) {
      const auto bytes = contents(path);
      if (!bytes) continue;
      const model::Md5 md5 =
          model::md5(std::as_bytes(std::span(bytes->constData(), static_cast<std::size_t>(bytes->size()))));
      const bool same = std::ranges::contains(file.checksums, md5, &model::SourceFile::Checksum::md5);
      if (!best || same) {
        best = views::SourceText{QFile::decodeName(QByteArray::fromStdString(path)), linesOf(*bytes), md5};
        if (path == fetched(file.path)) best->fetched = QString::fromStdString(file.path);
      }
      if (same || file.checksums.empty()) break;
    }
    return best;
  }

  QString doubt(const views::SourceText& text, const model::Module& module) override {
    const QFileInfo source(text.path);
    const QFileInfo binary(QFile::decodeName(QByteArray::fromStdString(module.path)));
    if (!source.exists() || !binary.exists() || source.lastModified() <= binary.lastModified()) return {};
    return QCoreApplication::translate("traceback::app::FileSources", "changed after %1 was built")
        .arg(binary.fileName());
  }

  // Once for a file: a server that does not have it will not have it the next moment.
  bool canFetch(const model::SourceFile& file, const model::Module& module) override {
    const std::lock_guard lock(m_mutex);
    return loader::Debuginfod::wanted() && !module.buildId.empty() && file.path.starts_with('/') &&
           !m_fetched.contains(file.path);
  }

  model::Result<void> fetch(const model::SourceFile& file, const model::Module& module,
                            const GoOn& goOn) override {
    auto path = loader::Debuginfod(goOn).source(module.buildId, file.path);
    const std::lock_guard lock(m_mutex);
    m_fetched[file.path] = path ? *path : std::string();
    if (!path) return std::unexpected(path.error());
    return {};
  }

 private:
  std::vector<std::string> candidates(const std::string& path) {
    std::vector<std::string> all = m_finder.findAll(path);
    if (std::string copy = fetched(path); !copy.empty()) all.push_back(std::move(copy));
    return all;
  }
  // Empty if it was not.
  std::string fetched(const std::string& path) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_fetched.find(path);
    return found != m_fetched.end() ? found->second : std::string();
  }

  static std::optional<QByteArray> contents(const std::string& path) {
    QFile source(QFile::decodeName(QByteArray::fromStdString(path)));
    if (!source.open(QIODevice::ReadOnly) || source.size() > kLargest) return std::nullopt;
    return source.readAll();
  }

  static QStringList linesOf(const QByteArray& bytes) {
    QString all = QString::fromUtf8(bytes);
    all.remove(u'\r');
    // What a text widget would take for the end of a line, and what it cannot hold.
    for (QChar& c : all)
      if (c == QChar::ParagraphSeparator || c == QChar::LineSeparator || c == u'\f' || c == u'\v' ||
          c.isNull())
        c = u' ';
    QStringList lines = all.split(u'\n');
    if (lines.last().isEmpty()) lines.removeLast();
    return lines;
  }

  loader::SourceFinder m_finder;
  std::mutex m_mutex;  // for what follows
  std::map<std::string, std::string> m_fetched;  // where the copy is, by path; empty: there is none
};

}  // namespace

std::shared_ptr<views::SourceProvider> fileSources(const QList<SourceMapping>& mappings) {
  std::vector<loader::SourceFinder::Mapping> known;
  for (const SourceMapping& mapping : mappings)
    known.push_back({mapping.from.toStdString(), mapping.to.toStdString()});
  return std::make_shared<FileSources>(loader::SourceFinder(std::move(known), {}));
}

}  // namespace traceback::app
