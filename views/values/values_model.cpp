#include "views/values/values_model.h"

#include <QFont>
#include <QGuiApplication>
#include <QPalette>
#include <QStringList>

namespace traceback::views {

struct ValuesModel::Node {
  QString name, value, type;
  bool known = true;
  bool isGroup = false;
  Node* parent = nullptr;
  int row = 0;
  std::vector<std::unique_ptr<Node>> children;

  Node& addChild() {
    children.push_back(std::make_unique<Node>());
    children.back()->parent = this;
    children.back()->row = static_cast<int>(children.size()) - 1;
    return *children.back();
  }
};

ValuesModel::ValuesModel(QObject* parent) : QAbstractItemModel(parent), m_root(std::make_unique<Node>()) {}
ValuesModel::~ValuesModel() = default;

void ValuesModel::add(Node& to, const model::Value& value) {
  Node& node = to.addChild();
  node.name = QString::fromStdString(value.name);
  node.value = QString::fromStdString(value.text);
  node.type = QString::fromStdString(value.type);
  node.known = value.known;
  for (const model::Value& part : value.parts) add(node, part);
  if (!value.more) return;
  Node& rest = node.addChild();
  rest.value = tr("further parts are not shown");
  rest.known = false;
}

void ValuesModel::setFrame(const model::FrameValues& frame) {
  beginResetModel();
  m_root = std::make_unique<Node>();
  const auto addGroup = [this](const QString& title, const std::vector<model::Value>& values) {
    if (values.empty()) return;
    Node& group = m_root->addChild();
    group.name = title;
    group.isGroup = true;
    for (const model::Value& value : values) add(group, value);
  };
  addGroup(tr("Arguments"), frame.arguments);
  addGroup(tr("Local variables"), frame.locals);
  addGroup(tr("Registers"), frame.registers);
  endResetModel();
}

void ValuesModel::clear() {
  if (m_root->children.empty()) return;
  beginResetModel();
  m_root = std::make_unique<Node>();
  endResetModel();
}

const ValuesModel::Node* ValuesModel::nodeOf(const QModelIndex& index) const {
  return index.isValid() ? static_cast<const Node*>(index.internalPointer()) : m_root.get();
}

QString ValuesModel::textOf(const QModelIndex& index) const {
  const Node* node = nodeOf(index);
  if (!node->isGroup && index.isValid())
    return node->name.isEmpty() ? node->value : tr("%1 = %2").arg(node->name, node->value);
  QStringList lines;
  for (int row = 0; row < rowCount(index); ++row) lines.append(textOf(this->index(row, 0, index)));
  return lines.join(u'\n');
}

QModelIndex ValuesModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  return createIndex(row, column, nodeOf(parent)->children[static_cast<std::size_t>(row)].get());
}

QModelIndex ValuesModel::parent(const QModelIndex& index) const {
  if (!index.isValid()) return {};
  Node* parent = nodeOf(index)->parent;
  return parent == m_root.get() ? QModelIndex() : createIndex(parent->row, 0, parent);
}

int ValuesModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(nodeOf(parent)->children.size());
}

int ValuesModel::columnCount(const QModelIndex&) const { return kColumnCount; }

QVariant ValuesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Node* node = nodeOf(index);
  switch (role) {
    case Qt::DisplayRole:
      return index.column() == kName ? node->name : index.column() == kValue ? node->value : node->type;
    case Qt::ToolTipRole:
      return index.column() == kType || node->type.isEmpty()
                 ? (index.column() == kType ? node->type : textOf(index))
                 : textOf(index) + u'\n' + node->type;
    case Qt::AccessibleTextRole:
      if (index.column() == kName && !node->isGroup) return textOf(index);
      return data(index, Qt::DisplayRole);
    case Qt::ForegroundRole:
      if (!node->known || index.column() == kType)
        return QGuiApplication::palette().color(QPalette::PlaceholderText);
      return {};
    case Qt::FontRole:
      if (node->isGroup) {
        QFont font;
        font.setBold(true);
        return font;
      }
      return {};
    default:
      return {};
  }
}

QVariant ValuesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (section) {
    case kName:
      return tr("Name");
    case kValue:
      return tr("Value");
    case kType:
      return tr("Type");
    default:
      return {};
  }
}

}  // namespace traceback::views
