// A file of `traceback profile` for the recording.
#pragma once

#include "app/viewer/wizard/file_field.h"

namespace traceback::app {

class ProfileField : public FileField {
  Q_OBJECT

 public:
  explicit ProfileField(QWidget* parent = nullptr);
  QString problem() const override;
};

}  // namespace traceback::app
