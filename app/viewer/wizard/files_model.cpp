#include "app/viewer/wizard/files_model.h"

#include <QFileInfo>
#include <QGuiApplication>
#include <QLocale>
#include <algorithm>

#include "runtime/inject/audit/pattern.h"
#include "views/common/formatting.h"
#include "views/common/icons.h"
#include "views/common/theme.h"

namespace traceback::app {
namespace {

bool fits(const QByteArray& patterns, const QString& path) {
  return inject::audit::matchesAny(patterns.constData(), QFile::encodeName(path).constData());
}

QString size(qint64 bytes) {
  return bytes == 0 ? QString() : QLocale().formattedDataSize(bytes, 1, QLocale::DataSizeSIFormat);
}

}  // namespace

QString patternFor(const QString& text) {
  QString pattern;
  for (const QChar c : text) {
    if (QStringLiteral("*?[\\").contains(c)) pattern += u'\\';
    pattern += c;
  }
  return pattern;
}

void FilesModel::setProgram(const PlannedProgram& program) {
  beginResetModel();
  m_files.clear();
  m_unchecked.clear();
  m_untraced = program.untraced;
  for (const QString& path : program.files) {
    PlannedFile file;
    file.path = path;
    m_files.append(file);
  }
  endResetModel();
  emit choiceChanged();
}

void FilesModel::clear() { setProgram({}); }

void FilesModel::setFile(const PlannedFile& file) {
  for (int row = 0; row < m_files.size(); ++row) {
    if (m_files[row].path != file.path) continue;
    m_files[row] = file;
    emit dataChanged(index(row, 0), index(row, kColumnCount - 1));
    emit choiceChanged();
    return;
  }
}

int FilesModel::waiting() const {
  return static_cast<int>(std::ranges::count(m_files, PlannedFile::State::Waiting, &PlannedFile::state));
}

void FilesModel::setPatterns(const QStringList& only, const QStringList& exclude) {
  m_only = QFile::encodeName(only.join(u'\n'));
  m_exclude = QFile::encodeName(exclude.join(u'\n'));
  changed();
}

void FilesModel::changed() {
  if (!m_files.isEmpty())
    emit dataChanged(index(0, 0), index(static_cast<int>(m_files.size()) - 1, kColumnCount - 1));
  emit choiceChanged();
}

QStringList FilesModel::uncheckedPatterns() const {
  QStringList patterns;
  for (const PlannedFile& file : m_files)
    if (m_unchecked.contains(file.path)) patterns << patternFor(file.path);
  return patterns;
}

bool FilesModel::isChosen(const PlannedFile& file) const {
  return !m_unchecked.contains(file.path) && (m_only.isEmpty() || fits(m_only, file.path)) &&
         !fits(m_exclude, file.path);
}

bool FilesModel::isTraced(int row) const {
  const PlannedFile& file = m_files[row];
  return file.state == PlannedFile::State::Traced && isChosen(file);
}

qint64 FilesModel::tracedFunctions() const {
  qint64 all = 0;
  for (int row = 0; row < m_files.size(); ++row)
    if (isTraced(row)) all += m_files[row].instrumented;
  return all;
}

int FilesModel::tracedFiles() const {
  int all = 0;
  for (int row = 0; row < m_files.size(); ++row) all += isTraced(row) ? 1 : 0;
  return all;
}

qint64 FilesModel::bytesToMake() const {
  qint64 all = 0;
  for (int row = 0; row < m_files.size(); ++row)
    if (isTraced(row) && !m_files[row].hasCopy) all += m_files[row].copyBytes;
  return all;
}

QStringList FilesModel::reasons(int row) const {
  const PlannedFile& file = m_files[row];
  QStringList lines;
  if (!file.reason.isEmpty()) lines << file.reason;
  for (auto it = file.skipped.begin(); it != file.skipped.end(); ++it)
    lines << tr("%1 not traced: %2").arg(views::count(static_cast<std::uint64_t>(it.value())), it.key());
  for (auto it = file.enteredDirectlyOnly.begin(); it != file.enteredDirectlyOnly.end(); ++it)
    lines << tr("%1 traced only where they are called directly: %2")
                 .arg(views::count(static_cast<std::uint64_t>(it.value())), it.key());
  return lines;
}

QString FilesModel::whatText(const PlannedFile& file) const {
  switch (file.state) {
    case PlannedFile::State::Waiting:
      return tr("not looked at yet");
    case PlannedFile::State::AsItIs:
      return file.reason;
    case PlannedFile::State::Traced:
      break;
  }
  if (m_unchecked.contains(file.path)) return tr("left out");
  if (!isChosen(file)) return tr("left out by a pattern");
  return file.hasCopy ? tr("traced; its copy is there") : tr("traced");
}

QVariant FilesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const PlannedFile& file = m_files[index.row()];
  const bool known = file.state == PlannedFile::State::Traced;
  switch (role) {
    case Qt::CheckStateRole:
      if (index.column() != kFile || !known) return {};
      return m_unchecked.contains(file.path) ? Qt::Unchecked : Qt::Checked;
    case Qt::TextAlignmentRole:
      return int((index.column() == kFile || index.column() == kWhat ? Qt::AlignLeft : Qt::AlignRight) |
                 Qt::AlignVCenter);
    case Qt::ForegroundRole:
      if (!isTraced(index.row())) return views::Theme(QGuiApplication::palette()).dimText;
      return {};
    case Qt::ToolTipRole: {
      QStringList lines{file.path};
      lines += reasons(index.row());
      return lines.join(u'\n').toHtmlEscaped().replace(u'\n', QStringLiteral("<br>"));
    }
    case Qt::DecorationRole: {
      if (index.column() != kWhat || file.state == PlannedFile::State::Waiting) return {};
      const views::Theme theme(QGuiApplication::palette());
      return isTraced(index.row()) ? views::icon(QStringLiteral("step"), theme.infoMark)
                                   : views::icon(QStringLiteral("untraced"), theme.warningMark);
    }
    case Qt::DisplayRole:
      break;
    default:
      return {};
  }
  switch (index.column()) {
    case kFile:
      return QFileInfo(file.path).fileName();
    case kTraced:
      return known ? views::count(static_cast<std::uint64_t>(file.instrumented)) : QString();
    case kUntraced:
      return known ? views::count(static_cast<std::uint64_t>(file.functions - file.instrumented)) : QString();
    case kCopy:
      return known ? size(file.copyBytes) : QString();
    default:
      return whatText(file);
  }
}

bool FilesModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || index.column() != kFile || role != Qt::CheckStateRole) return false;
  const QString& path = m_files[index.row()].path;
  if (value.toInt() == Qt::Checked)
    m_unchecked.remove(path);
  else
    m_unchecked.insert(path);
  emit dataChanged(index.siblingAtColumn(0), index.siblingAtColumn(kColumnCount - 1));
  emit choiceChanged();
  return true;
}

Qt::ItemFlags FilesModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) return Qt::NoItemFlags;
  Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren;
  if (index.column() == kFile && m_files[index.row()].state == PlannedFile::State::Traced)
    flags |= Qt::ItemIsUserCheckable;
  return flags;
}

}  // namespace traceback::app
