#include "app/viewer/file_sources.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <utility>

#include "loader/symbols/source_finder.h"

namespace traceback::app {
namespace {

// More than any source; a file of this size is something else.
constexpr qint64 kLargest = 64 << 20;

class FileSources : public views::SourceProvider {
 public:
  explicit FileSources(loader::SourceFinder finder) : m_finder(std::move(finder)) {}

  std::optional<views::SourceText> source(const model::SourceFile& file) override {
    const auto path = m_finder.find(file.path);
    if (!path) return std::nullopt;
    views::SourceText text;
    text.path = QFile::decodeName(QByteArray::fromStdString(*path));
    QFile source(text.path);
    if (!source.open(QIODevice::ReadOnly) || source.size() > kLargest) return std::nullopt;
    QString all = QString::fromUtf8(source.readAll());
    all.remove(u'\r');
    // What a text widget would take for the end of a line, and what it cannot hold.
    for (QChar& c : all)
      if (c == QChar::ParagraphSeparator || c == QChar::LineSeparator || c == u'\f' || c == u'\v' ||
          c.isNull())
        c = u' ';
    text.lines = all.split(u'\n');
    if (text.lines.last().isEmpty()) text.lines.removeLast();
    return text;
  }

  QString doubt(const views::SourceText& text, const model::Module& module) override {
    const QFileInfo source(text.path);
    const QFileInfo binary(QFile::decodeName(QByteArray::fromStdString(module.path)));
    if (!source.exists() || !binary.exists() || source.lastModified() <= binary.lastModified()) return {};
    return QCoreApplication::translate("traceback::app::FileSources", "changed after %1 was built")
        .arg(binary.fileName());
  }

 private:
  loader::SourceFinder m_finder;
};

}  // namespace

std::shared_ptr<views::SourceProvider> fileSources(const QList<SourceMapping>& mappings) {
  std::vector<loader::SourceFinder::Mapping> known;
  for (const SourceMapping& mapping : mappings)
    known.push_back({mapping.from.toStdString(), mapping.to.toStdString()});
  return std::make_shared<FileSources>(loader::SourceFinder(std::move(known), {}));
}

}  // namespace traceback::app
