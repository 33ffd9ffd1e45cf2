// A policy file for the recording, and what `traceback policy` says is wrong in it.
#pragma once

#include <QProcess>
#include <QTimer>
#include <QWidget>

class QLabel;
class QLineEdit;

namespace traceback::app {

class FileField;

class PolicyField : public QWidget {
  Q_OBJECT

 public:
  // `traceback`: the program of the command line.
  explicit PolicyField(QString traceback, QWidget* parent = nullptr);
  ~PolicyField() override;

  QLineEdit* edit() const;
  QString file() const;
  QString problem() const;  // as in FileField; what is wrong in it is said beside the field
  QString note() const;

 signals:
  void changed();

 private:
  void check();
  void stop();

  QString m_traceback;
  FileField* m_file;
  QLabel* m_note;
  QTimer m_settled;  // not for each letter of many
  QProcess* m_process = nullptr;
};

}  // namespace traceback::app
