// The viewer's texts in the user's language, and with them Qt's own, those of its dialogs.
#pragma once

#include <QLocale>
#include <QString>
#include <QTranslator>

namespace traceback::app {

class Translation {
 public:
  // In use from here on, for as long as this lives: before anything that has texts is made. The first of the
  // locale's languages counts that there is a file for, traceback-viewer_LANGUAGE.qm in `folder`; English
  // needs none. Needs a QCoreApplication.
  explicit Translation(const QLocale& locale = QLocale::system(), const QString& folder = installed());

  // As "de" or "pt_BR"; empty for English.
  const QString& language() const { return m_language; }
  // Where the program's translations are.
  static QString installed();

 private:
  QString m_language;
  QTranslator m_texts, m_qt;
};

}  // namespace traceback::app
