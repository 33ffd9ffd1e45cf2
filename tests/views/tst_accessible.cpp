// Everything that the keyboard can reach has a name for a screen reader, and everything that the mouse can
// use the keyboard can reach. Walks all widgets of each window.

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAccessible>
#include <QComboBox>
#include <QDialog>
#include <QLineEdit>
#include <QMenuBar>
#include <QTest>
#include <QToolButton>

#include "app/viewer/compare_window.h"
#include "app/viewer/export_dialog.h"
#include "app/viewer/shortcuts_dialog.h"
#include "app/viewer/source_folders_dialog.h"
#include "sample.h"
#include "views/compare/compare_pane.h"

using namespace traceback;

namespace {

QString path(const QWidget* widget) {
  QStringList names;
  for (const QWidget* each = widget; each != nullptr; each = each->parentWidget())
    names.prepend(QStringLiteral("%1(%2)").arg(QString::fromLatin1(each->metaObject()->className()),
                                               each->objectName()));
  return names.join(u'/');
}

// Parts that Qt makes of its own widgets; who has the whole needs no name for them.
bool isPart(const QWidget* widget) {
  return widget->objectName().startsWith(QStringLiteral("qt_")) || widget->inherits("QTableCornerButton") ||
         qobject_cast<const QLineEdit*>(widget->parentWidget()) != nullptr ||
         qobject_cast<const QComboBox*>(widget->parentWidget()) != nullptr ||
         (qobject_cast<const QAbstractItemView*>(widget) != nullptr &&
          widget->window()->inherits("QComboBoxPrivateContainer"));
}

QString nameOf(QWidget* widget) {
  const QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(widget);
  return accessible != nullptr ? accessible->text(QAccessible::Name) : QString();
}

// What is wrong with the widgets of a window, a line each.
QString problems(QWidget& window) {
  QStringList found;
  for (QWidget* widget : window.findChildren<QWidget*>()) {
    if (isPart(widget)) continue;
    const bool reached = (widget->focusPolicy() & Qt::TabFocus) != 0;
    if (reached && nameOf(widget).isEmpty()) found.append(QStringLiteral("no name: ") + path(widget));
    // Buttons without focus are allowed where an action with a key stands behind them.
    const auto* button = qobject_cast<const QToolButton*>(widget);
    const bool byKey = button != nullptr && button->defaultAction() != nullptr;
    const bool used =
        qobject_cast<const QAbstractButton*>(widget) != nullptr ||
        qobject_cast<const QLineEdit*>(widget) != nullptr ||
        qobject_cast<const QComboBox*>(widget) != nullptr ||
        (qobject_cast<const QAbstractItemView*>(widget) != nullptr && !widget->inherits("QHeaderView"));
    if (used && !reached && !byKey && widget->focusPolicy() == Qt::NoFocus)
      found.append(QStringLiteral("not reached: ") + path(widget));
    if (button != nullptr && nameOf(widget).isEmpty())
      found.append(QStringLiteral("no name: ") + path(widget));
  }
  found.removeDuplicates();
  return found.join(u'\n');
}

}  // namespace

class Accessible : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() { QAccessible::setActive(true); }

  void everyWidgetOfTheWindowHasANameAndIsReached() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    QVERIFY2(problems(*window).isEmpty(), qPrintable(problems(*window)));
  }

  void theComparisonToo() {
    app::CompareWindow window(tests::sampleServices(tests::sampleTrace()), {}, false);
    window.setTrace(model::Side::Left, tests::sampleTrace(), "good.tbsnap");
    window.setTrace(model::Side::Right, tests::sampleTrace(), "bad.tbsnap");
    QVERIFY2(problems(window).isEmpty(), qPrintable(problems(window)));
  }

  void andTheDialogs() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    window->showShortcuts();
    for (QDialog* dialog : window->findChildren<QDialog*>())
      QVERIFY2(problems(*dialog).isEmpty(), qPrintable(problems(*dialog)));
    const app::SourceMapping folder{QStringLiteral("/a"), QStringLiteral("/b")};
    app::SourceFoldersDialog folders({folder}, 0, nullptr, {});
    folders.show();
    QVERIFY2(problems(folders).isEmpty(), qPrintable(problems(folders)));
    app::ExportDialog dialog({{"This thread", {}}});
    QVERIFY2(problems(dialog).isEmpty(), qPrintable(problems(dialog)));
  }

  void rowsReadAsSentences() {
    const auto window = tests::sampleWindow(tests::sampleTrace());
    for (QAbstractItemView* view : window->findChildren<QAbstractItemView*>()) {
      if (isPart(view) || view->model() == nullptr || view->model()->rowCount() == 0 || !view->isVisible())
        continue;
      const QAccessibleInterface* accessible = QAccessible::queryAccessibleInterface(view);
      QVERIFY2(accessible != nullptr && accessible->childCount() > 0, qPrintable(path(view)));
    }
  }
};

QTEST_MAIN(Accessible)
#include "tst_accessible.moc"
