#include "views/search/search_model.h"

#include <QGuiApplication>
#include <QPalette>

#include "views/common/theme.h"

namespace traceback::views {

void SearchModel::set(std::vector<SearchOffer> offers) {
  beginResetModel();
  m_offers = std::move(offers);
  endResetModel();
}

QVariant SearchModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const SearchOffer& offer = m_offers[static_cast<std::size_t>(index.row())];
  if (index.column() == kText) {
    if (role == Qt::DisplayRole || role == Qt::EditRole || role == Qt::ToolTipRole) return offer.text;
    return {};
  }
  switch (role) {
    case Qt::TextAlignmentRole:
      return int(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::ForegroundRole:
      return Theme(QGuiApplication::palette()).dimText;
    case Qt::DisplayRole:
      break;
    default:
      return {};
  }
  switch (offer.kind) {
    case SearchOffer::Kind::Function:
      return tr("function");
    case SearchOffer::Kind::File:
      return tr("file");
    case SearchOffer::Kind::View:
      return offer.keys.isEmpty() ? tr("view") : tr("view, %1").arg(offer.keys);
    case SearchOffer::Kind::Command:
      break;
  }
  return offer.keys.isEmpty() ? tr("command") : tr("command, %1").arg(offer.keys);
}

}  // namespace traceback::views
