// A policy file for the recording, and what `traceback policy` says is wrong in it.
#pragma once

#include <QProcess>
#include <QTimer>
#include <QWidget>

class QLabel;
class QLineEdit;

namespace traceback::app {

class PolicyField : public QWidget {
  Q_OBJECT

 public:
  // `traceback`: the program of the command line.
  explicit PolicyField(QString traceback, QWidget* parent = nullptr);
  ~PolicyField() override;

  QLineEdit* edit() const { return m_edit; }
  QString file() const;  // empty: none is named
  // Why the file cannot be used at all; empty if it can. What is wrong in it is said beside the field.
  QString problem() const;
  QString note() const;

 signals:
  void changed();

 private:
  void check();
  void stop();

  QString m_traceback;
  QLineEdit* m_edit;
  QLabel* m_note;
  QTimer m_settled;  // not for each letter of many
  QProcess* m_process = nullptr;
};

}  // namespace traceback::app
