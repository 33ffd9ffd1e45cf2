// What the search box offers while one types: functions and files of the trace, panels and commands of the
// program, each with a word about what it is.
#pragma once

#include <QString>
#include <vector>

#include "views/common/rows_model.h"

namespace traceback::views {

struct SearchOffer {
  enum class Kind : std::uint8_t { Function, File, View, Command } kind = Kind::Function;
  QString text;
  QString keys = {};  // of a command, in words
  int number = -1;    // of a view or a command: which, for whoever offers it
};

class SearchModel : public RowsModel {
  Q_OBJECT

 public:
  enum Column { kText, kWhat, kColumnCount };

  explicit SearchModel(QObject* parent = nullptr) : RowsModel({tr("Name"), tr("Kind")}, parent) {}
  void set(std::vector<SearchOffer> offers);
  const std::vector<SearchOffer>& offers() const { return m_offers; }

  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;

 protected:
  int rows() const override { return static_cast<int>(m_offers.size()); }

 private:
  std::vector<SearchOffer> m_offers;
};

}  // namespace traceback::views
