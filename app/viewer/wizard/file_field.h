// The name of a file that is there, typed or chosen.
#pragma once

#include <QString>
#include <QWidget>

class QLineEdit;

namespace traceback::app {

class FileField : public QWidget {
  Q_OBJECT

 public:
  struct Texts {
    QString objectName;
    QString accessibleName, placeholder, toolTip;
    QString browse, browseName;  // the button, and what that does
    QString title;  // of the dialog
    QString notAbsolute;
  };
  explicit FileField(Texts texts, QWidget* parent = nullptr);

  QLineEdit* edit() const { return m_edit; }
  QString file() const;  // empty: none is named
  // Why the file cannot be used at all; empty if it can.
  virtual QString problem() const;

 signals:
  void changed();

 private:
  Texts m_texts;
  QLineEdit* m_edit;
};

}  // namespace traceback::app
