// One line a thread: where it stood when the snap was made, for how long, and for whom it waited.
#pragma once

#include <QTreeView>
#include <memory>
#include <vector>

#include "model/trace.h"
#include "model/waits.h"
#include "views/common/rows_model.h"
#include "views/moving/navigator.h"
#include "views/source/source_cache.h"

namespace traceback::views {

class WaitsModel : public RowsModel {
  Q_OBJECT

 public:
  enum Column { kThread, kWhere, kSource, kDoing, kFor, kWaitsFor, kColumnCount };

  explicit WaitsModel(SourceCache& sources, QObject* parent = nullptr)
      : RowsModel({tr("Thread"), tr("Stands in"), tr("Source"), tr("Doing"), tr("For"), tr("Waits for")},
                  parent),
        m_sources(&sources) {}
  void setTrace(std::shared_ptr<const model::Trace> trace);
  const model::Standing& standing(int row) const { return m_standings[static_cast<std::size_t>(row)]; }

  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int rows() const override { return static_cast<int>(m_standings.size()); }

 private:
  QString cell(const model::Standing& standing, int column) const;
  QString doing(const model::Standing& standing) const;
  QString waitsFor(const model::Standing& standing) const;
  QString name(model::ThreadIndex thread) const;

  SourceCache* m_sources;
  std::shared_ptr<const model::Trace> m_trace;
  std::vector<model::Standing> m_standings;
};

// A click goes to where the thread stood.
class WaitsPanel : public QTreeView {
  Q_OBJECT

 public:
  WaitsPanel(Navigator& navigator, SourceCache& sources, QWidget* parent = nullptr);
  WaitsModel* waits() const { return m_model; }
  QSize sizeHint() const override;

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void showTrace();
  void showThread();
  void jump(const QModelIndex& index);

  Navigator* m_navigator;
  WaitsModel* m_model;
  bool m_stale = true;  // the trace is another one, and nobody has looked since
};

}  // namespace traceback::views
