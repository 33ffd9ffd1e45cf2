// Which files are traced at all: patterns of names, with their effect on the files in sight.
#pragma once

#include <QWizardPage>

class QLabel;
class QPlainTextEdit;
class QTreeView;

namespace traceback::app {

struct RecordState;

class LibrariesPage : public QWizardPage {
  Q_OBJECT

 public:
  explicit LibrariesPage(RecordState& state, QWidget* parent = nullptr);

  QPlainTextEdit* only() const { return m_only; }
  QPlainTextEdit* exclude() const { return m_exclude; }
  QLabel* effect() const { return m_effect; }

  void initializePage() override;
  bool isComplete() const override;
  bool validatePage() override;

 private:
  void apply();

  RecordState* m_state;
  QPlainTextEdit* m_only;
  QPlainTextEdit* m_exclude;
  QTreeView* m_table;
  QLabel* m_effect;
};

}  // namespace traceback::app
