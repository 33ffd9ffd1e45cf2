// The variables and registers of one frame, with their parts, as a tree.
#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <vector>

#include "model/values.h"

namespace traceback::views {

class ValuesModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { kName, kValue, kType, kColumnCount };

  explicit ValuesModel(QObject* parent = nullptr);
  ~ValuesModel() override;

  void setFrame(const model::FrameValues& frame);
  void clear();
  // "name = value" of a row, for the clipboard; of a group all of it, a line each.
  QString textOf(const QModelIndex& index) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Node;
  static void add(Node& to, const model::Value& value);
  const Node* nodeOf(const QModelIndex& index) const;

  std::unique_ptr<Node> m_root;  // its children are the groups
};

}  // namespace traceback::views
