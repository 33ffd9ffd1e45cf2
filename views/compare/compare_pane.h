// Two traces side by side, with what answers each other in one row. The two lists scroll and select as one;
// the current row is where both sides stand.
#pragma once

#include <QWidget>
#include <memory>

#include "views/compare/compare_rows.h"
#include "views/moving/navigator.h"
#include "views/source/source_cache.h"

class QAction;
class QLabel;
class QTableView;

namespace traceback::views {

class CompareModel;
class ElidedLabel;

class ComparePane : public QWidget {
  Q_OBJECT

 public:
  struct Side {
    Navigator& navigator;
    SourceCache& sources;
  };
  ComparePane(Side left, Side right, QWidget* parent = nullptr);

  // The navigators' current threads, compared. Stands where they first part, or at their ends if they do not.
  void show(model::Comparison comparison);
  void clear();

  const CompareRows& rows() const { return m_rows; }
  QTableView* view(model::Side side) const { return m_views[static_cast<int>(side)]; }
  CompareModel* model(model::Side side) const { return m_models[static_cast<int>(side)]; }
  QAction* nextAction() const { return m_next; }
  QAction* previousAction() const { return m_previous; }
  QAction* firstAction() const { return m_first; }
  int currentRow() const;
  void goToRow(int row);
  // What is shown beside the buttons, and what is aligned by what.
  QString status() const;
  QString notes() const;

 protected:
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QTableView* build(model::Side side, const QString& name);
  void moved(model::Side side, const QModelIndex& current);
  void activated(int row);
  void navigated(model::Side side);
  void showStatus();
  void applyFonts();
  Navigator& navigator(model::Side side) { return *m_navigators[static_cast<int>(side)]; }

  Navigator* m_navigators[2];
  CompareRows m_rows;
  CompareModel* m_models[2];
  QTableView* m_views[2];
  QLabel* m_status;
  QLabel* m_notes;
  QAction* m_first;
  QAction* m_next;
  QAction* m_previous;
  bool m_syncing = false;
};

}  // namespace traceback::views
