// The header of the trace as a tree or as a list: which columns there are, in which order, how wide.
#pragma once

#include <QByteArray>

#include "views/common/flat_header.h"

namespace traceback::views {

class TraceHeader : public FlatHeader {
  Q_OBJECT

 public:
  // `notesPercent`: what the notes get of the width, until the user gives them another.
  TraceHeader(int notesPercent, QWidget* parent);

  // Once the view has its model: what is taken for granted, and the rest hidden.
  void setUp(const QList<int>& shown);
  // As many letters of the view's font as each column usually needs.
  void applyFont();
  // What the user made of it.
  QByteArray state() const;
  void restore(const QByteArray& state);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void askForColumns(const QPoint& at);
  void shareWidth();

  int m_notesPercent;
  bool m_notesChosen = false;
  bool m_sharing = false;  // what changes now is not the user's doing
};

}  // namespace traceback::views
