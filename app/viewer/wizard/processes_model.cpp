#include "app/viewer/wizard/processes_model.h"

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

namespace traceback::app {
namespace {

constexpr qint64 kMostBytes = 1 << 16;  // of a command line that is shown

QByteArray contentsOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.read(kMostBytes) : QByteArray();
}

QList<RunningProcess> readProcesses(const std::stop_token& stop) {
  QList<RunningProcess> found;
  const qint64 self = QCoreApplication::applicationPid();
  for (const QString& entry : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    if (stop.stop_requested()) return {};
    bool number = false;
    RunningProcess process;
    process.pid = entry.toLongLong(&number);
    if (!number || process.pid == self) continue;
    const QString folder = QStringLiteral("/proc/") + entry;
    // The arguments, each ended by a zero; a kernel thread has none.
    QByteArray words = contentsOf(folder + QStringLiteral("/cmdline"));
    while (words.endsWith('\0')) words.chop(1);
    if (words.isEmpty()) continue;
    for (const QByteArray& word : words.split('\0')) process.command << QString::fromLocal8Bit(word);
    process.name = QString::fromLocal8Bit(contentsOf(folder + QStringLiteral("/comm"))).trimmed();
    process.user = QFileInfo(folder).owner();
    readService(contentsOf(folder + QStringLiteral("/cgroup")), process);
    found.append(process);
  }
  std::ranges::sort(found, {}, &RunningProcess::pid);
  return found;
}

}  // namespace

void readService(const QByteArray& cgroup, RunningProcess& process) {
  for (const QByteArray& line : cgroup.split('\n')) {
    // HIERARCHY:CONTROLLERS:PATH; systemd's own is the unified one, or the one with its name
    const QByteArrayList fields = line.split(':');
    if (fields.size() < 3 || !(fields[1].isEmpty() || fields[1] == "name=systemd")) continue;
    const QByteArrayList parts = line.mid(fields[0].size() + fields[1].size() + 2).split('/');
    for (qsizetype i = parts.size(); i-- > 0;) {
      // The user's manager is no service of interest itself.
      if (!parts[i].endsWith(".service") || parts[i].startsWith("user@")) continue;
      process.service = QString::fromUtf8(parts[i]);
      process.ofUser =
          std::ranges::any_of(parts, [](const QByteArray& part) { return part.startsWith("user@"); });
      return;
    }
  }
}

ProcessesModel::ProcessesModel(QObject* parent)
    : views::RowsModel({tr("PID"), tr("Name"), tr("Service"), tr("User"), tr("Command")}, parent) {}

void ProcessesModel::refresh() {
  auto found = std::make_shared<QList<RunningProcess>>();
  m_job.start([found](const std::stop_token& stop) { *found = readProcesses(stop); },
              [this, found] {
                beginResetModel();
                m_processes = std::move(*found);
                endResetModel();
                emit listed();
              });
}

QVariant ProcessesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const RunningProcess& process = m_processes[index.row()];
  if (role == Qt::TextAlignmentRole)
    return int((index.column() == kPid ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  const QString command = process.command.join(u' ').simplified();
  if (role == Qt::ToolTipRole) return command.toHtmlEscaped();
  if (role != Qt::DisplayRole) return {};
  switch (index.column()) {
    case kPid:
      return QString::number(process.pid);
    case kName:
      return process.name;
    case kService:
      return process.service;
    case kUser:
      return process.user;
    default:
      return command;
  }
}

}  // namespace traceback::app
