#include "app/viewer/wizard/profile_field.h"

#include <QFile>

namespace traceback::app {

ProfileField::ProfileField(QWidget* parent)
    : FileField({.objectName = QStringLiteral("profile"),
                 .accessibleName = tr("Profile"),
                 .placeholder = tr("what traceback profile has kept"),
                 .toolTip = tr("Which ways branches went in runs before: recording costs less by that, and "
                               "records the same"),
                 .browse = tr("Brow&se\u2026"),
                 .browseName = tr("Choose a profile"),
                 .title = tr("Profile"),
                 .notAbsolute = tr("The profile's path begins with a slash.")},
                parent) {}

// The whole of it is read by `traceback run`.
QString ProfileField::problem() const {
  if (QString problem = FileField::problem(); !problem.isEmpty() || file().isEmpty()) return problem;
  constexpr QByteArrayView kBegin("traceback-profile ");
  QFile profile(file());
  if (!profile.open(QFile::ReadOnly)) return tr("%1 cannot be read: %2").arg(file(), profile.errorString());
  return profile.read(kBegin.size()) == kBegin
             ? QString()
             : tr("%1 is no profile, as `traceback profile` makes it.").arg(file());
}

}  // namespace traceback::app
