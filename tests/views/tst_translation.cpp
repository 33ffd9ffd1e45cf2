// The viewer in other languages: German as it is, and a made-up one that marks each text that passes tr().

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAction>
#include <QDialog>
#include <QDockWidget>
#include <QFile>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QLibraryInfo>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QToolBar>
#include <QWizard>
#include <QXmlStreamReader>

#include "app/viewer/compare_window.h"
#include "app/viewer/export_dialog.h"
#include "app/viewer/shortcuts_dialog.h"
#include "app/viewer/source_folders_dialog.h"
#include "app/viewer/translation.h"
#include "app/viewer/wizard/record_wizard.h"
#include "picture.h"
#include "sample.h"
#include "views/compare/compare_pane.h"
#include "views/notes/annotations_panel.h"

using namespace traceback;

namespace {

const QLocale kGerman(QLocale::German, QLocale::Germany);

struct Message {
  QString context, source, translation;
  bool finished = false;
};

QList<Message> messagesIn(const QString& file) {
  QFile in(file);
  if (!in.open(QIODevice::ReadOnly)) return {};
  QXmlStreamReader xml(&in);
  QList<Message> messages;
  QString context;
  while (!xml.atEnd()) {
    if (xml.readNext() != QXmlStreamReader::StartElement) continue;
    if (xml.name() == u"name") context = xml.readElementText();
    if (xml.name() == u"message") messages.append({.context = context, .source = {}, .translation = {}});
    if (xml.name() == u"source") messages.last().source = xml.readElementText();
    if (xml.name() == u"translation") {
      const bool finished = !xml.attributes().hasAttribute(QLatin1String("type"));
      messages.last().translation = xml.readElementText();
      messages.last().finished = finished && !messages.last().translation.isEmpty();
    }
  }
  return xml.hasError() ? QList<Message>() : messages;
}

// Marks all texts, and keeps which of the viewer's own were asked for.
class Marker : public QTranslator {
 public:
  static constexpr QChar kMark = u'\u27e6';

  bool isEmpty() const override { return false; }
  QString translate(const char* context, const char* source, const char* /*of equal ones*/,
                    int /*number*/) const override {
    if (QByteArrayView(context).startsWith("traceback::"))
      m_asked.insert({QString::fromUtf8(context), QString::fromUtf8(source)});
    return kMark + QString::fromUtf8(source) + u'\u27e7';
  }
  const QSet<std::pair<QString, QString>>& asked() const { return m_asked; }

 private:
  mutable QSet<std::pair<QString, QString>> m_asked;
};

struct Shown {
  QString text;
  QString where;
};

// What a window shows and says of itself; not what its lists hold, but the headings of these.
QList<Shown> textsOf(QWidget& window) {
  QList<Shown> all;
  const auto add = [&all](const QString& text, const QObject* of, const char* role) {
    all.append({text, QStringLiteral("%1 of %2 '%3'")
                          .arg(QString::fromLatin1(role), QString::fromLatin1(of->metaObject()->className()),
                               of->objectName())});
  };
  add(window.windowTitle(), &window, "title");
  for (const QAction* action : window.findChildren<QAction*>()) {
    if (action->objectName().startsWith(QLatin1String("_q_"))) continue;
    add(action->text(), action, "text");
    add(action->toolTip(), action, "tool tip");
    add(action->statusTip(), action, "status tip");
  }
  for (const QWidget* widget : window.findChildren<QWidget*>()) {
    if (widget->objectName().startsWith(QLatin1String("qt_"))) continue;
    add(widget->toolTip(), widget, "tool tip");
    add(widget->accessibleName(), widget, "name");
    add(widget->accessibleDescription(), widget, "description");
    if (const auto* label = qobject_cast<const QLabel*>(widget)) add(label->text(), label, "text");
    if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
      add(button->text(), button, "text");
    if (const auto* group = qobject_cast<const QGroupBox*>(widget)) add(group->title(), group, "title");
    if (const auto* dock = qobject_cast<const QDockWidget*>(widget)) add(dock->windowTitle(), dock, "title");
    if (const auto* edit = qobject_cast<const QLineEdit*>(widget)) {
      add(edit->placeholderText(), edit, "placeholder");
    }
    if (const auto* header = qobject_cast<const QHeaderView*>(widget); header && header->model() != nullptr) {
      for (int i = 0; i < header->count(); ++i) {
        if (header->orientation() == Qt::Vertical) break;
        add(header->model()->headerData(i, Qt::Horizontal).toString(), header, "heading");
      }
    }
    if (const auto* wizard = qobject_cast<const QWizard*>(widget->parentWidget())) {
      for (const int id : wizard->pageIds()) {
        add(wizard->page(id)->title(), wizard->page(id), "title");
        add(wizard->page(id)->subTitle(), wizard->page(id), "subtitle");
      }
    }
  }
  return all;
}

// Without what a trace, a file or a key is called.
bool hasWords(QString text) {
  static const QRegularExpression kData(QStringLiteral(
      "<[^>]*>|SIG[A-Z]+|\\b(?:Ctrl|Alt|Shift|Esc|Return|F\\d+)\\b|[\\w./-]*\\w\\.(?:c|tbsnap|cpp)(?::\\d+)?"
      "|/[\\w./-]+|0x[0-9a-f]+|\\b(?:main|visit|parse|shelf|worker|box|TraceBack|good|bad)\\b"));
  text.remove(kData);
  static const QRegularExpression kWord(QStringLiteral("\\p{L}{3}"));
  return kWord.match(text).hasMatch();
}

QStringList unmarkedIn(QWidget& window) {
  QStringList found;
  for (const Shown& shown : textsOf(window))
    if (hasWords(shown.text) && !shown.text.contains(Marker::kMark))
      found.append(QStringLiteral("%1: %2").arg(shown.where, shown.text));
  found.removeDuplicates();
  return found;
}

using Use = std::function<void(QWidget&, const QString& name)>;

// Every window, with all of its panels.
void withEachWindow(const Use& use) {
  const auto window = tests::sampleWindow(tests::sampleTrace());
  for (QDockWidget* dock : window->findChildren<QDockWidget*>()) dock->show();
  QTest::qWait(50);
  use(*window, QStringLiteral("window"));
  window->showShortcuts();
  for (QDialog* dialog : window->findChildren<QDialog*>()) use(*dialog, QStringLiteral("shortcuts"));
  app::MainWindow welcome(tests::sampleServices(tests::sampleTrace()), {}, false);
  welcome.show();
  use(welcome, QStringLiteral("welcome"));
  const app::SourceMapping mapping{QStringLiteral("/a"), QStringLiteral("/b")};
  app::SourceFoldersDialog folders({mapping}, 0, nullptr, {});
  folders.show();
  use(folders, QStringLiteral("source-folders"));
  app::ExportDialog dialog({{app::MainWindow::tr("This thread"), {}}});
  dialog.show();
  use(dialog, QStringLiteral("export"));
  app::CompareWindow compare(tests::sampleServices(tests::sampleTrace()), {}, false);
  compare.setTrace(model::Side::Left, tests::sampleTrace(), "good.tbsnap");
  compare.setTrace(model::Side::Right, tests::sampleTrace(), "bad.tbsnap");
  compare.show();
  use(compare, QStringLiteral("compare"));
  app::RecordWizard wizard(QStringLiteral("/usr/bin/false"), {});
  wizard.show();
  use(wizard, QStringLiteral("wizard"));
}

// The menus in their order, each with what is in it.
QList<std::pair<QString, QList<QAction*>>> menusOf(const QMenuBar& bar) {
  QList<std::pair<QString, QList<QAction*>>> menus{{QStringLiteral("the menu bar"), bar.actions()}};
  for (qsizetype i = 0; i < menus.size(); ++i)
    for (QAction* action : menus[i].second)
      if (action->menu() != nullptr) menus.append({action->text(), action->menu()->actions()});
  return menus;
}

QString letterOf(const QString& text) {
  static const QRegularExpression kLetter(QStringLiteral("&([^& ])"));
  return kLetter.match(text).captured(1).toLower();
}

// Letters that lead to two entries of one menu.
QStringList sharedLetters(const QMenuBar& bar) {
  QStringList shared;
  for (const auto& [menu, actions] : menusOf(bar)) {
    QHash<QString, QString> taken;
    for (const QAction* action : actions) {
      const QString letter = letterOf(action->text());
      if (letter.isEmpty()) continue;
      if (taken.contains(letter))
        shared.append(QStringLiteral("%1: %2 and %3").arg(menu, taken[letter], action->text()));
      taken[letter] = action->text();
    }
  }
  return shared;
}

QString withoutMark(QString text) { return text.remove(u'&'); }

}  // namespace

class Translated : public QObject {
  Q_OBJECT

  QList<Message> m_german = messagesIn(QStringLiteral(TRANSLATION_SOURCE));

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QVERIFY(m_german.size() > 500);
    if (!QFile::exists(QStringLiteral(TRANSLATIONS "/traceback-viewer_de.qm")))
      QSKIP("built without Qt's Linguist tools");
  }

  void theGermanWindowHasNoTitleInEnglish() {
    const auto english = tests::sampleWindow(tests::sampleTrace());
    const auto before = menusOf(*english->menuBar());
    const app::Translation translation(kGerman, QStringLiteral(TRANSLATIONS));
    QCOMPARE(translation.language(), QStringLiteral("de"));
    const auto german = tests::sampleWindow(tests::sampleTrace());
    const auto after = menusOf(*german->menuBar());
    QCOMPARE(german->menuBar()->actions().first()->text(), QStringLiteral("&Datei"));
    QCOMPARE(after.size(), before.size());
    // The same in both.
    const QStringList alike{QStringLiteral("Threads"), QStringLiteral("Filter")};
    int compared = 0;
    for (qsizetype menu = 0; menu < after.size(); ++menu) {
      QCOMPARE(after[menu].second.size(), before[menu].second.size());
      for (qsizetype i = 0; i < after[menu].second.size(); ++i) {
        const QAction* was = before[menu].second[i];
        const QAction* is = after[menu].second[i];
        if (is->isSeparator()) continue;
        ++compared;
        QVERIFY2(
            withoutMark(is->text()) != withoutMark(was->text()) || alike.contains(withoutMark(is->text())),
            qPrintable(is->text()));
        if (!was->statusTip().isEmpty())
          QVERIFY2(is->statusTip() != was->statusTip(), qPrintable(is->text()));
        // Keys are the same whatever the language.
        QCOMPARE(is->objectName(), was->objectName());
        QCOMPARE(is->shortcuts(), was->shortcuts());
      }
    }
    QVERIFY(compared > 50);
  }

  void qtsOwnTextsGoWithThem() {
    QCOMPARE(QCoreApplication::translate("QPlatformTheme", "Cancel"), QStringLiteral("Cancel"));
    const app::Translation translation(kGerman, QStringLiteral(TRANSLATIONS));
    if (!QFile::exists(QLibraryInfo::path(QLibraryInfo::TranslationsPath) + QStringLiteral("/qtbase_de.qm")))
      QSKIP("Qt's own translations are not installed");
    QCOMPARE(QCoreApplication::translate("QPlatformTheme", "Cancel"), QStringLiteral("Abbrechen"));
  }

  void otherLanguagesAreEnglishThroughout() {
    for (const QLocale& locale :
         {QLocale(QLocale::English, QLocale::UnitedKingdom), QLocale::c(), QLocale(QLocale::Icelandic)}) {
      const app::Translation translation(locale, QStringLiteral(TRANSLATIONS));
      QCOMPARE(translation.language(), QString());
      QCOMPARE(app::MainWindow::tr("&File"), QStringLiteral("&File"));
      QCOMPARE(QCoreApplication::translate("QPlatformTheme", "Cancel"), QStringLiteral("Cancel"));
    }
    const app::Translation austrian(QLocale(QLocale::German, QLocale::Austria), QStringLiteral(TRANSLATIONS));
    QCOMPARE(austrian.language(), QStringLiteral("de"));
    const app::Translation nowhere(kGerman, QStringLiteral("/nonexistent"));
    QCOMPARE(nowhere.language(), QString());
  }

  void theProgramFindsItsTranslations_data() {
    QTest::addColumn<QString>("languages");
    QTest::addColumn<bool>("german");
    QTest::newRow("German") << QStringLiteral("de") << true;
    QTest::newRow("of Austria, by way of one that there is not") << QStringLiteral("is:de_AT") << true;
    QTest::newRow("English first") << QStringLiteral("en:de") << false;
    QTest::newRow("one that there is not") << QStringLiteral("is") << false;
  }
  void theProgramFindsItsTranslations() {
    QFETCH(QString, languages);
    QFETCH(bool, german);
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("LC_ALL"), QStringLiteral("de_DE.UTF-8"));
    environment.insert(QStringLiteral("LANGUAGE"), languages);
    QProcess viewer;
    viewer.setProcessEnvironment(environment);
    viewer.start(QStringLiteral(VIEWER_PROGRAM), {QStringLiteral("--help")});
    QVERIFY(viewer.waitForFinished());
    QCOMPARE(viewer.exitCode(), 0);
    const QString help = QString::fromUtf8(viewer.readAllStandardOutput());
    QVERIFY2(
        help.contains(german ? QStringLiteral("Die Version zeigen.") : QStringLiteral("Show the version.")),
        qPrintable(help));
  }

  void noMenuHasALetterTwice() {
    const auto english = tests::sampleWindow(tests::sampleTrace());
    QCOMPARE(sharedLetters(*english->menuBar()).join(u'\n'), QString());
    const app::Translation translation(kGerman, QStringLiteral(TRANSLATIONS));
    const auto german = tests::sampleWindow(tests::sampleTrace());
    QCOMPARE(sharedLetters(*german->menuBar()).join(u'\n'), QString());
  }

  // What is filled in, and what punctuation promises, is there in the translation, too.
  void translationsKeepPlaceholdersMarksAndEnds() {
    const auto placeholders = [](const QString& text) {
      static const QRegularExpression kPlaceholder(QStringLiteral("%[0-9nfl]"));
      QStringList all;
      for (const auto& match : kPlaceholder.globalMatch(text)) all.append(match.captured());
      all.sort();
      return all;
    };
    for (const Message& message : std::as_const(m_german)) {
      if (!message.finished) continue;
      const QString& from = message.source;
      const QString& to = message.translation;
      QCOMPARE(placeholders(to), placeholders(from));
      QVERIFY2(letterOf(to).isEmpty() == letterOf(from).isEmpty(), qPrintable(from));
      for (const QChar end : {u'\u2026', u':', u' '})
        QVERIFY2(from.endsWith(end) == to.endsWith(end), qPrintable(from));
      QVERIFY2(from.startsWith(u' ') == to.startsWith(u' '), qPrintable(from));
    }
  }

  // A text that was added lately may still be missing; not many, and none of a menu (see above).
  void theTranslationHasTheTextsOfTheSources() {
    if (QByteArrayView(LUPDATE).empty()) QSKIP("configured without lupdate");
    const QTemporaryDir folder;
    const QString copy = folder.filePath(QStringLiteral("copy.ts"));
    QVERIFY(QFile::copy(QStringLiteral(TRANSLATION_SOURCE), copy));
    QProcess extract;
    extract.start(QStringLiteral(CMAKE),
                  {QStringLiteral("-DSOURCE_DIR=" SOURCES),
                   QStringLiteral("-DWORK_DIR=") + folder.filePath(QStringLiteral("sources")),
                   QStringLiteral("-DLUPDATE=" LUPDATE), QStringLiteral("-DTS=") + copy, QStringLiteral("-P"),
                   QStringLiteral(EXTRACT)});
    QVERIFY(extract.waitForFinished());
    QVERIFY2(extract.exitCode() == 0, extract.readAllStandardError().constData());
    const QList<Message> now = messagesIn(copy);
    QVERIFY(now.size() > 500);
    QStringList missing;
    for (const Message& message : now) {
      QVERIFY2(message.context.startsWith(QLatin1String("traceback::")), qPrintable(message.context));
      if (!message.finished) missing.append(message.source);
    }
    for (const QString& text : std::as_const(missing)) qInfo("not translated yet: %s", qPrintable(text));
    QVERIFY2(missing.size() * 20 < now.size(), qPrintable(QStringLiteral("%1 texts").arg(missing.size())));
  }

  void everyTextThatIsShownCanBeTranslated() {
    Marker marker;
    QVERIFY(QCoreApplication::installTranslator(&marker));
    withEachWindow([](QWidget& window, const QString& name) {
      const QStringList unmarked = unmarkedIn(window);
      QVERIFY2(unmarked.isEmpty(), qPrintable(name + u'\n' + unmarked.join(u'\n')));
    });
    // What was asked for by another name than the sources have it under would never be found.
    QSet<std::pair<QString, QString>> known;
    for (const Message& message : std::as_const(m_german)) known.insert({message.context, message.source});
    int asked = 0;
    for (const auto& text : marker.asked()) {
      ++asked;
      if (!known.contains(text))
        qInfo("not in the translation: %s: %s", qPrintable(text.first), qPrintable(text.second));
    }
    QVERIFY(asked > 300);
    const auto unknown = marker.asked() - known;
    QVERIFY2(unknown.size() * 20 < asked,
             qPrintable(QStringLiteral("%1 of %2").arg(unknown.size()).arg(asked)));
  }

  void theWindowsAreDrawnInGerman() {
    const app::Translation translation(kGerman, QStringLiteral(TRANSLATIONS));
    withEachWindow(
        [](QWidget& window, const QString& name) { tests::keep(window, QStringLiteral("german-") + name); });
  }
};

QTEST_MAIN(Translated)
#include "tst_translation.moc"
