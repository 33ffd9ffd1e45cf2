// The bookmarks and notes of a snap, a row each; texts can be edited in place.
#pragma once

#include <QAbstractTableModel>

#include "views/annotations.h"

namespace traceback::views {

class AnnotationsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { kPlace, kThread, kText, kAuthor, kColumnCount };

  explicit AnnotationsModel(Annotations& annotations, QObject* parent = nullptr);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  Annotations* m_annotations;
  QList<Annotation> m_shown;  // as of the last change
};

}  // namespace traceback::views
