// Before the trace: when there are samples of what the current thread did, and what they say of one moment.
// Their places lead to the source.
#pragma once

#include <QWidget>

#include "model/entry.h"
#include "views/moving/navigator.h"

class QLabel;
class QTreeView;

namespace traceback::views {

class HistoryModel;
class HistoryPlacesModel;

class HistoryPanel : public QWidget {
  Q_OBJECT

 public:
  explicit HistoryPanel(Navigator& navigator, QWidget* parent = nullptr);

  HistoryModel* history() const { return m_history; }
  HistoryPlacesModel* places() const { return m_places; }
  QTreeView* stretchList() const { return m_stretchList; }
  QTreeView* placeList() const { return m_placeList; }
  QString note() const;
  QSize sizeHint() const override;

 signals:
  // Somebody wants to see this code, which the trace may not have.
  void codeRequested(const traceback::model::Entry& code);

 private:
  void showThread();
  void showStretch();
  void show(const QModelIndex& place);

  Navigator* m_navigator;
  HistoryModel* m_history;
  HistoryPlacesModel* m_places;
  QLabel* m_note;
  QTreeView* m_stretchList;
  QTreeView* m_placeList;
};

}  // namespace traceback::views
