// The choice of what the trace pane shows: thread, module, function, file.
#pragma once

#include <QTimer>
#include <QWidget>

#include "views/moving/navigator.h"
#include "views/trace/trace_filter.h"

class QComboBox;
class QLineEdit;

namespace traceback::views {

class FilterBar : public QWidget {
  Q_OBJECT

 public:
  explicit FilterBar(Navigator& navigator, QWidget* parent = nullptr);

  TraceFilter filter() const;
  QComboBox* threads() const { return m_threads; }
  QComboBox* modules() const { return m_modules; }
  QLineEdit* function() const { return m_function; }
  QLineEdit* file() const { return m_file; }
  // Shows the bar with the keyboard in it; closing it takes the filter away.
  void open();
  void close();

 signals:
  void changed();
  void opened();
  void closed();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void showTrace();

  Navigator* m_navigator;
  QComboBox* m_threads;
  QComboBox* m_modules;
  QLineEdit* m_function;
  QLineEdit* m_file;
  QTimer m_typing;
};

}  // namespace traceback::views
