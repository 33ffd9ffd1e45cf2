// Where the sources are that were compiled in other folders: a list to change, with what each folder leads to
// at this moment. What is changed holds at once.
#pragma once

#include <QDialog>
#include <QTimer>
#include <memory>

#include "app/viewer/source_reach.h"
#include "views/common/background_job.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QTreeWidget;

namespace traceback::app {

class SourceFoldersDialog : public QDialog {
  Q_OBJECT

 public:
  // The first `fixed` mappings come from the command line and stay as they are. Without a trace, or a
  // function to look with, nothing is said of what the folders lead to.
  SourceFoldersDialog(QList<SourceMapping> mappings, qsizetype fixed,
                      std::shared_ptr<const model::Trace> trace, ReachFunction reach,
                      QWidget* parent = nullptr);

  // For tests, which use them as a user would.
  QTreeWidget* list() const { return m_list; }
  QLineEdit* from() const { return m_from; }
  QLineEdit* to() const { return m_to; }
  QPushButton* addButton() const { return m_add; }
  QPushButton* removeButton() const { return m_remove; }
  QPushButton* upButton() const { return m_up; }
  QPushButton* downButton() const { return m_down; }
  QLabel* summary() const { return m_summary; }

 signals:
  // Those behind the fixed ones, in their order; rows that are not filled in are left out.
  void changed(const QList<traceback::app::SourceMapping>& mappings);

 private:
  qsizetype current() const;  // -1: none
  void select(qsizetype row);
  void fill();
  void showCurrent();
  void edited();
  void add();
  void remove();
  void move(qsizetype by);
  void browse();
  void tell();
  void look();
  void showReach(const SourceReach& reach);

  QList<SourceMapping> m_mappings;
  qsizetype m_fixed;
  std::shared_ptr<const model::Trace> m_trace;
  ReachFunction m_reach;
  QTreeWidget* m_list;
  QLineEdit* m_from;
  QLineEdit* m_to;
  QPushButton* m_browse;
  QPushButton* m_add;
  QPushButton* m_remove;
  QPushButton* m_up;
  QPushButton* m_down;
  QLabel* m_summary;
  QTimer m_settled;  // some time after the last letter was typed
  views::BackgroundJob m_looking;
};

}  // namespace traceback::app
