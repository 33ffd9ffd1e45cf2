// The processes of this machine, with the services that they belong to.
#pragma once

#include <QString>
#include <QStringList>
#include <memory>

#include "views/common/background_job.h"
#include "views/common/rows_model.h"

namespace traceback::app {

struct RunningProcess {
  qint64 pid = 0;
  QString name;
  QStringList command;
  QString user;
  QString service;      // of systemd: "nginx.service"; empty if it belongs to none
  bool ofUser = false;  // that service is one of a user's own manager
};

// The service in the text of /proc/PID/cgroup.
void readService(const QByteArray& cgroup, RunningProcess& process);

class ProcessesModel : public views::RowsModel {
  Q_OBJECT

 public:
  enum Column : int { kPid, kName, kService, kUser, kCommand, kColumnCount };

  explicit ProcessesModel(QObject* parent = nullptr);
  // Reads them again, on another thread.
  void refresh();
  const RunningProcess& process(int row) const { return m_processes[row]; }

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 signals:
  void listed();

 protected:
  int rows() const override { return static_cast<int>(m_processes.size()); }

 private:
  QList<RunningProcess> m_processes;
  views::BackgroundJob m_job;
};

}  // namespace traceback::app
