// A table of entries, as the panels for several threads show them: rows as high as in the trace pane, no
// grid, and a signal when the user, and not the program, goes to another row.
#pragma once

#include <QTableView>

namespace traceback::views {

class EntryTable : public QTableView {
  Q_OBJECT

 public:
  explicit EntryTable(QAbstractItemModel* model, QWidget* parent = nullptr);

  // Shows these columns, in this order; the one to be stretched must be among them.
  void showColumns(const QList<int>& columns, int stretched);
  // Makes the row the current one, in sight, without telling.
  void stand(const QModelIndex& index);
  // Brings the rows into sight, from the first on if they are too many; nothing is selected then.
  void look(const QModelIndex& first, const QModelIndex& last);

 signals:
  void userMoved(const QModelIndex& current, bool clicked);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void applyFont();

  bool m_syncing = false;
};

}  // namespace traceback::views
