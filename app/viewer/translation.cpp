#include "app/viewer/translation.h"

#include <QCoreApplication>
#include <QLibraryInfo>

namespace traceback::app {

Translation::Translation(const QLocale& locale, const QString& folder) {
  for (const QString& tag : locale.uiLanguages()) {
    const QString language = QString(tag).replace(u'-', u'_');
    if (language == QLatin1String("C") || language.section(u'_', 0, 0) == QLatin1String("en")) return;
    if (!m_texts.load(QStringLiteral("traceback-viewer_") + language, folder)) continue;
    m_language = m_texts.language();
    QCoreApplication::installTranslator(&m_texts);
    if (m_qt.load(QStringLiteral("qtbase_") + language, QLibraryInfo::path(QLibraryInfo::TranslationsPath)))
      QCoreApplication::installTranslator(&m_qt);
    return;
  }
}

QString Translation::installed() {
  return QCoreApplication::applicationDirPath() +
         QStringLiteral("/" TRACEBACK_SHARE "/traceback/translations");
}

}  // namespace traceback::app
