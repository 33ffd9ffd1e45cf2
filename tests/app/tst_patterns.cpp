// The patterns of `traceback run --only` and `--exclude`.
#include <QTest>

#include "runtime/inject/audit/pattern.h"

using traceback::inject::audit::matchesAny;

class PatternsTest : public QObject {
  Q_OBJECT

 private slots:
  void aFileFitsByItsPathOrItsName_data() {
    QTest::addColumn<QByteArray>("patterns");
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<bool>("fits");
    const auto row = [](const char* patterns, const char* path, bool fits) {
      QTest::addRow("'%s' and '%s'", patterns, path) << QByteArray(patterns) << QByteArray(path) << fits;
    };
    row("libz.so.1", "/usr/lib/libz.so.1", true);
    row("/usr/lib/libz.so.1", "/usr/lib/libz.so.1", true);
    row("libz", "/usr/lib/libz.so.1", false);
    row("libz*", "/usr/lib/libz.so.1", true);
    row("*z*", "/usr/lib/libz.so.1", true);
    row("*z*z*", "/usr/lib/libz.so.1", false);
    row("/usr/*", "/usr/lib/deep/libz.so.1", true);
    row("/usr/*.so", "/usr/lib/libz.so.1", false);
    row("*.so*", "/opt/a.so/program", true);
    row("lib?.so.1", "/usr/lib/libz.so.1", true);
    row("lib?.so.1", "/usr/lib/lib.so.1", false);
    row("lib[xyz].so.1", "/usr/lib/libz.so.1", true);
    row("lib[a-y].so.1", "/usr/lib/libz.so.1", false);
    row("lib[!a-y].so.1", "/usr/lib/libz.so.1", true);
    row("lib[]z].so.1", "/usr/lib/libz.so.1", true);
    row("lib[z.so.1", "/usr/lib/libz.so.1", false);
    row("lib[z.so.1", "/usr/lib/lib[z.so.1", true);
    row("lib\\*.so", "/usr/lib/libz.so", false);
    row("lib\\*.so", "/usr/lib/lib*.so", true);
    row("a\nlibz*\nb", "/usr/lib/libz.so.1", true);
    row("a\nb", "/usr/lib/libz.so.1", false);
    row("", "/usr/lib/libz.so.1", false);
    row("*", "/usr/lib/libz.so.1", true);
    row("*a*a*a*a*a*b", "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false);
  }
  void aFileFitsByItsPathOrItsName() {
    QFETCH(QByteArray, patterns);
    QFETCH(QByteArray, path);
    QFETCH(bool, fits);
    QCOMPARE(matchesAny(patterns.constData(), path.constData()), fits);
  }
};

QTEST_GUILESS_MAIN(PatternsTest)
#include "tst_patterns.moc"
