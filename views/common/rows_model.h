// What tables of the rows of one list share.
#pragma once

#include <QAbstractTableModel>
#include <QStringList>

namespace traceback::views {

class RowsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  // A title for each column.
  RowsModel(QStringList titles, QObject* parent) : QAbstractTableModel(parent), m_titles(std::move(titles)) {}

  int rowCount(const QModelIndex& parent = {}) const override { return parent.isValid() ? 0 : rows(); }
  int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(m_titles.size());
  }
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override {
    return orientation == Qt::Horizontal && role == Qt::DisplayRole ? m_titles.value(section) : QVariant();
  }

 protected:
  virtual int rows() const = 0;

 private:
  QStringList m_titles;
};

}  // namespace traceback::views
