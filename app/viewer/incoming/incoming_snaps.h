// The snaps in a folder, newest first, as they come and go.
//
// The folder is watched, also while it is not there yet. Heads are read on another thread, each file once. A
// file that cannot be read is listed with the reason, and looked at again while it may still be growing.
#pragma once

#include <QDateTime>
#include <QFileSystemWatcher>
#include <QHash>
#include <QTimer>
#include <filesystem>
#include <functional>

#include "model/error.h"
#include "model/trace.h"
#include "views/common/background_job.h"
#include "views/common/rows_model.h"

namespace traceback::app {

// Reads what a snap is of; is called on another thread.
using ReadSummary = std::function<model::Result<model::Trace::Summary>(const std::filesystem::path& file)>;

struct IncomingSnap {
  QString file;
  qint64 size = 0;
  QDateTime modified;
  model::Trace::Summary summary;
  QString problem;  // why it cannot be read; empty if it can

  bool readable() const { return problem.isEmpty(); }
  // When it was made, by itself; of one that cannot be read, by the file.
  QDateTime when() const;
  friend bool operator==(const IncomingSnap& a, const IncomingSnap& b) {
    return a.file == b.file && a.size == b.size && a.modified == b.modified && a.problem == b.problem;
  }
};

class IncomingSnaps : public views::RowsModel {
  Q_OBJECT

 public:
  enum Column : int { kProgram, kReason, kWhen, kSize, kColumnCount };

  // Without `read` nothing is ever watched.
  explicit IncomingSnaps(ReadSummary read, QObject* parent = nullptr);

  // Where `traceback` puts snaps unless it is told otherwise.
  static QString defaultFolder();
  // An empty one: nothing is watched and listed.
  void setFolder(const QString& folder);
  QString folder() const { return m_folder; }

  const QList<IncomingSnap>& snaps() const { return m_snaps; }
  // The newest that can be read; empty if there is none.
  QString newest() const;
  QString fileAt(const QModelIndex& index) const;
  // Looks at the folder now.
  void refresh();

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 signals:
  // The folder was looked at, and the list is as it is.
  void listed();
  // A snap that was not there when its folder was first looked at.
  void arrived(const QString& file);

 protected:
  int rows() const override { return static_cast<int>(m_snaps.size()); }

 private:
  void watch();
  void show(QList<IncomingSnap> found);

  ReadSummary m_read;
  QString m_folder;
  bool m_listedBefore = false;  // of this folder
  QList<IncomingSnap> m_snaps;
  QFileSystemWatcher m_watcher;
  QTimer m_settle;  // several files often come at once
  views::BackgroundJob m_job;
};

}  // namespace traceback::app
