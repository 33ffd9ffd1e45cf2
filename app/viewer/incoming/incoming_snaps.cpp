#include "app/viewer/incoming/incoming_snaps.h"

#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLocale>
#include <QStandardPaths>
#include <algorithm>
#include <memory>

#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/theme.h"

namespace traceback::app {
namespace {

constexpr int kSettleMs = 60;
// A file that was written so lately may not be whole yet; nothing tells when it is.
constexpr int kGrowsForSeconds = 10;
constexpr int kLookAgainMs = 700;

QDateTime timeOf(model::Nanoseconds when) {
  return QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(when.value / 1'000'000));
}

// The file, with its head read unless that is known.
IncomingSnap lookAt(const QFileInfo& info, const QHash<QString, IncomingSnap>& known,
                    const ReadSummary& read) {
  IncomingSnap snap;
  snap.file = info.filePath();
  snap.size = info.size();
  snap.modified = info.lastModified();
  const auto before = known.constFind(snap.file);
  if (before != known.cend() && before->size == snap.size && before->modified == snap.modified &&
      before->readable())
    return *before;
  auto summary = read(std::filesystem::path(QFile::encodeName(snap.file).toStdString()));
  if (summary)
    snap.summary = std::move(*summary);
  else
    snap.problem = QString::fromStdString(summary.error().message);
  return snap;
}

bool isNewer(const IncomingSnap& a, const IncomingSnap& b) {
  const QDateTime first = a.when(), second = b.when();
  return first != second ? first > second : a.file < b.file;
}

}  // namespace

QDateTime IncomingSnap::when() const { return summary.when.value != 0 ? timeOf(summary.when) : modified; }

IncomingSnaps::IncomingSnaps(ReadSummary read, QObject* parent)
    : views::RowsModel({tr("Program"), tr("Reason"), tr("Time"), tr("Size")}, parent),
      m_read(std::move(read)) {
  m_settle.setSingleShot(true);
  connect(&m_settle, &QTimer::timeout, this, &IncomingSnaps::refresh);
  connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, [this] { m_settle.start(kSettleMs); });
}

QString IncomingSnaps::defaultFolder() {
#if QT_VERSION >= QT_VERSION_CHECK(6, 7, 0)
  return QStandardPaths::writableLocation(QStandardPaths::GenericStateLocation) +
         QStringLiteral("/traceback");
#else
  const QString state = qEnvironmentVariable("XDG_STATE_HOME");
  return (state.startsWith(u'/') ? state : QDir::homePath() + QStringLiteral("/.local/state")) +
         QStringLiteral("/traceback");
#endif
}

void IncomingSnaps::setFolder(const QString& folder) {
  m_folder = folder.isEmpty() || !m_read ? QString() : QDir(folder).absolutePath();
  m_listedBefore = false;
  beginResetModel();
  m_snaps.clear();
  endResetModel();
  refresh();
}

void IncomingSnaps::watch() {
  if (!m_watcher.directories().isEmpty()) m_watcher.removePaths(m_watcher.directories());
  if (m_folder.isEmpty()) return;
  // While it is not there, its nearest parent that is: a folder that appears in that may be the one.
  QString folder = m_folder;
  while (!QFileInfo(folder).isDir() && folder != QDir(folder).filePath(QStringLiteral("..")) &&
         !QDir(folder).isRoot())
    folder = QFileInfo(folder).path();
  m_watcher.addPath(folder);
}

void IncomingSnaps::refresh() {
  m_settle.stop();
  watch();  // before it is read, so that nothing comes in between
  if (m_folder.isEmpty()) {
    m_job.cancel();
    return show({});
  }
  auto found = std::make_shared<QList<IncomingSnap>>();
  QHash<QString, IncomingSnap> known;
  for (const IncomingSnap& snap : m_snaps) known.insert(snap.file, snap);
  m_job.start(
      [found, known, read = m_read, folder = m_folder](const std::stop_token& stop) {
        const QFileInfoList files =
            QDir(folder).entryInfoList({QStringLiteral("*.tbsnap")}, QDir::Files | QDir::Readable);
        for (const QFileInfo& file : files) {
          if (stop.stop_requested()) return;
          found->append(lookAt(file, known, read));
        }
        std::ranges::sort(*found, isNewer);
      },
      [this, found] { show(std::move(*found)); });
}

void IncomingSnaps::show(QList<IncomingSnap> found) {
  QHash<QString, const IncomingSnap*> byFile;
  for (const IncomingSnap& snap : std::as_const(found)) byFile.insert(snap.file, &snap);
  // What goes, then what comes, so that a selection stays where it is.
  for (qsizetype i = m_snaps.size(); i-- > 0;) {
    const IncomingSnap* now = byFile.value(m_snaps[i].file);
    if (now != nullptr && *now == m_snaps[i]) continue;
    beginRemoveRows({}, static_cast<int>(i), static_cast<int>(i));
    m_snaps.removeAt(i);
    endRemoveRows();
  }
  QStringList arrivals;
  bool grows = false;
  const QDateTime now = QDateTime::currentDateTime();
  for (qsizetype i = 0; i < found.size(); ++i) {
    grows = grows || (!found[i].readable() && found[i].modified.secsTo(now) < kGrowsForSeconds);
    if (i < m_snaps.size() && m_snaps[i] == found[i]) continue;
    if (found[i].readable()) arrivals.prepend(found[i].file);
    beginInsertRows({}, static_cast<int>(i), static_cast<int>(i));
    m_snaps.insert(i, found[i]);
    endInsertRows();
  }
  const bool before = m_listedBefore;
  m_listedBefore = true;
  if (grows) m_settle.start(kLookAgainMs);
  emit listed();
  if (before)
    for (const QString& file : arrivals) emit arrived(file);
}

QString IncomingSnaps::newest() const {
  const auto found = std::ranges::find_if(m_snaps, &IncomingSnap::readable);
  return found == m_snaps.end() ? QString() : found->file;
}

QString IncomingSnaps::fileAt(const QModelIndex& index) const {
  return index.isValid() && index.row() < m_snaps.size() ? m_snaps[index.row()].file : QString();
}

QVariant IncomingSnaps::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const IncomingSnap& snap = m_snaps[index.row()];
  const model::Trace::Summary& summary = snap.summary;
  switch (role) {
    case Qt::ToolTipRole: {
      QStringList lines{QDir::toNativeSeparators(snap.file)};
      if (!summary.commandLine.empty()) lines.append(QString::fromStdString(summary.commandLine));
      if (!snap.readable()) lines.append(tr("Cannot be read: %1").arg(snap.problem));
      return lines.join(u'\n').toHtmlEscaped().replace(u'\n', QStringLiteral("<br>"));
    }
    case Qt::TextAlignmentRole:
      return int((index.column() == kSize ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      if (index.column() > kReason || !snap.readable())
        return views::Theme(QGuiApplication::palette()).dimText;
      return {};
    case Qt::DecorationRole: {
      if (index.column() != kProgram) return {};
      const views::Theme theme(QGuiApplication::palette());
      if (!snap.readable()) return views::icon(QStringLiteral("gap"), theme.warningMark);
      const bool fault =
          summary.reason == model::TraceReason::Fault || summary.reason == model::TraceReason::Abort;
      return fault ? views::icon(QStringLiteral("fault"), theme.faultMark)
                   : views::icon(QStringLiteral("snap"), theme.infoMark);
    }
    case Qt::DisplayRole:
      break;
    default:
      return {};
  }
  switch (index.column()) {
    case kProgram:
      return summary.program.empty() ? QFileInfo(snap.file).fileName() : views::fileName(summary.program);
    case kReason:
      return snap.readable() ? views::reasonText(summary) : tr("Cannot be read: %1").arg(snap.problem);
    case kWhen: {
      const QDateTime when = snap.when();
      return when.date() == QDate::currentDate() ? QLocale().toString(when.time(), QLocale::ShortFormat)
                                                 : QLocale().toString(when, QLocale::ShortFormat);
    }
    default:
      return QLocale().formattedDataSize(snap.size, 1, QLocale::DataSizeSIFormat);
  }
}

}  // namespace traceback::app
