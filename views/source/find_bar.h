// Finds text in a code view: a line to type in that shows itself when asked and hides on Escape.
#pragma once

#include <QPlainTextEdit>
#include <QWidget>

class QLabel;
class QLineEdit;

namespace traceback::views {

class FindBar : public QWidget {
  Q_OBJECT

 public:
  explicit FindBar(QWidget* parent = nullptr);

  void setView(QPlainTextEdit* view);
  void open();   // with what is selected in the view
  void close();
  // Goes on round the end of the text. False if there is nothing to find.
  bool find(bool backwards);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void findWhileTyping(const QString& text);

  QPlainTextEdit* m_view = nullptr;
  QLineEdit* m_text;
  QLabel* m_result;
};

}  // namespace traceback::views
