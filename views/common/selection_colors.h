// Keeps the strong selection colour for the list that has the keyboard; in the others the selected row is
// tinted only.
#pragma once

#include <QAbstractItemView>
#include <QObject>

namespace traceback::views {

class SelectionColors : public QObject {
  Q_OBJECT

 public:
  // Owned by the view.
  explicit SelectionColors(QAbstractItemView* view);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void apply(bool focused);

  QAbstractItemView* m_view;
  bool m_applying = false;
};

}  // namespace traceback::views
