// The bookmarks and notes of a snap, a row each; texts can be edited in place.
#pragma once

#include "views/common/rows_model.h"
#include "views/notes/annotations.h"

namespace traceback::views {

class AnnotationsModel : public RowsModel {
  Q_OBJECT

 public:
  enum Column { kPlace, kThread, kText, kAuthor, kColumnCount };

  explicit AnnotationsModel(Annotations& annotations, QObject* parent = nullptr);

  QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 protected:
  int rows() const override { return static_cast<int>(m_shown.size()); }

 private:
  Annotations* m_annotations;
  QList<Annotation> m_shown;  // as of the last change
};

}  // namespace traceback::views
