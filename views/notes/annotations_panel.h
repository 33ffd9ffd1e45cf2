// Bookmarks and notes: its rows jump, Delete takes one away, F2 or a double click edits the text.
#pragma once

#include <QTreeView>

#include "views/moving/navigator.h"
#include "views/notes/annotations.h"

namespace traceback::views {

class AnnotationsModel;

class AnnotationsPanel : public QTreeView {
  Q_OBJECT

 public:
  AnnotationsPanel(Navigator& navigator, Annotations& annotations, QWidget* parent = nullptr);

  AnnotationsModel* annotations() const { return m_model; }
  // Makes a bookmark where the user stands, or takes it away. One with a text stays: nothing brings it back.
  void toggleHere();
  // Makes one if there is none, and edits its text.
  void noteHere();
  QSize sizeHint() const override;

 signals:
  void message(const QString& text);
  // One is to be edited, so the panel must be in sight.
  void wanted();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void jump(const QModelIndex& index);
  void finishEditing();

  Navigator* m_navigator;
  Annotations* m_annotations;
  AnnotationsModel* m_model;
};

}  // namespace traceback::views
