// A strip above the code that tells something about its source, with something to do about it.
#pragma once

#include <QWidget>
#include <cstdint>

class QLabel;
class QToolButton;

namespace traceback::views {

class SourceNote : public QWidget {
  Q_OBJECT

 public:
  explicit SourceNote(QWidget* parent = nullptr);

  enum class Kind : std::uint8_t { Warning, Progress };
  void tell(Kind kind, const QString& headline, const QString& text);
  // There is nothing to tell, and the strip is gone.
  void clear();
  // Empty if there is none.
  QString text() const { return m_plain; }
  Kind kind() const { return m_kind; }
  QToolButton* button() const { return m_button; }

 signals:
  // About a warning: the user knows where the source is. About progress: it is not wanted.
  void locateRequested();
  void cancelRequested();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void showKind();

  QLabel* m_icon;
  QLabel* m_text;
  QToolButton* m_button;
  QString m_plain;
  Kind m_kind = Kind::Warning;
};

}  // namespace traceback::views
