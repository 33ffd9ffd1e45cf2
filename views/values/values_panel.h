// What variables and registers held when the snap was made. They are known for that moment alone: anywhere
// else in the trace the panel says so, and shows nothing.
#pragma once

#include <QPointer>
#include <QWidget>
#include <cstdint>
#include <optional>

#include "views/moving/navigator.h"
#include "views/values/end_values.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTreeView;

namespace traceback::views {

class ValuesModel;

class ValuesPanel : public QWidget {
  Q_OBJECT

 public:
  ValuesPanel(Navigator& navigator, EndValues& values, QWidget* parent = nullptr);

  ValuesModel* values() const { return m_model; }
  QTreeView* list() const { return m_list; }
  QComboBox* frames() const { return m_frames; }
  QPushButton* button() const { return m_button; }
  // What it says in the values' place, or about them; empty if there is nothing to say.
  QString message() const;
  QSize sizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  void refresh();
  void showValues(const model::ThreadValues& thread);
  void showFrame(int index);
  void say(const QString& text, const QString& action = {});
  void act();
  void copy();

  Navigator* m_navigator;
  QPointer<EndValues> m_values;  // may go first, where a window is torn down
  ValuesModel* m_model;
  QComboBox* m_frames;
  QLabel* m_message;
  QPushButton* m_button;
  QTreeView* m_list;
  const model::ThreadValues* m_shown = nullptr;
};

// Whether the user stands where the snap was made, in the current thread.
bool standsAtEnd(const Navigator& navigator);

// "name = value" of the variable of that name in the function that was running at the end, if it is known and
// the user stands there; asks for the values if nobody did.
QString valueAtEnd(const Navigator& navigator, EndValues& values, const QString& name);

}  // namespace traceback::views
