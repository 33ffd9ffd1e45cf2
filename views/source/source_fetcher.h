// Fetches sources that are not on this machine, one at a time and beside the user interface: each once, when
// it is wanted, and only where the provider may.
#pragma once

#include <QObject>
#include <memory>
#include <set>

#include "views/common/background_job.h"
#include "views/source/source_cache.h"

namespace traceback::views {

class SourceFetcher : public QObject {
  Q_OBJECT

 public:
  explicit SourceFetcher(SourceCache& sources, QObject* parent = nullptr);

  // Begins to fetch the file, for a module that has code of it, unless that was tried before; what was being
  // fetched is given up. Says whether it is under way.
  bool want(const std::shared_ptr<const model::Trace>& trace, model::FileId file, model::ModuleId module);
  // Gives up what is under way, for good.
  void cancel();
  // Of another trace nothing was tried.
  void forget();
  // "3 of 12 KB"; empty if that is not known.
  QString progress() const;

 signals:
  void progressed();
  // The cache looks for the file anew. With what went wrong; empty if nothing did.
  void ended(traceback::model::FileId file, const QString& error);

 private:
  struct State;

  SourceCache* m_sources;
  BackgroundJob m_job;
  QTimer m_look;
  std::shared_ptr<State> m_state;
  model::FileId m_file;
  std::set<std::pair<std::uint32_t, std::uint32_t>> m_tried;  // files, and modules
};

}  // namespace traceback::views
