// Asks what to export and as what.
#pragma once

#include <QDialog>
#include <vector>

#include "model/export/trace_export.h"

class QComboBox;

namespace traceback::app {

class ExportDialog : public QDialog {
  Q_OBJECT

 public:
  struct Scope {
    QString title;  // "This thread"
    std::vector<model::ExportRange> ranges;
  };
  explicit ExportDialog(std::vector<Scope> scopes, QWidget* parent = nullptr);

  QComboBox* formats() const { return m_formats; }
  QComboBox* scopes() const { return m_what; }
  model::ExportFormat format() const;
  const std::vector<model::ExportRange>& ranges() const;
  // ".html", with the dot; and what a file dialog says.
  QString suffix() const;
  QString nameFilter() const;

 private:
  std::vector<Scope> m_scopes;
  QComboBox* m_formats;
  QComboBox* m_what;
};

}  // namespace traceback::app
