// Source files of this machine: whether they are what was compiled, and the user's editor.

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "app/viewer/editor.h"
#include "app/viewer/file_sources.h"

// Qt Test's macros that wait convert durations.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace traceback;

class SourceFiles : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_folder;

  QString file(const QString& name, const QByteArray& text, const QDateTime& when = {}) const {
    const QString path = m_folder.filePath(name);
    QFile made(path);
    if (!made.open(QIODevice::ReadWrite | QIODevice::Truncate)) qFatal("%s", qPrintable(path));
    made.write(text);
    made.flush();
    if (when.isValid()) made.setFileTime(when, QFileDevice::FileModificationTime);
    return path;
  }

 private slots:
  void aSourceChangedAfterItsProgramWasBuiltIsDoubted() {
    const QDateTime built = QDateTime::currentDateTime().addDays(-2);
    model::Module module;
    module.path = file(QStringLiteral("prog"), "binary", built).toStdString();
    const QString path = file(QStringLiteral("a.c"), "int a;\nint b;\n", built.addSecs(-60));
    const auto sources = app::fileSources({});
    const auto text = sources->source({path.toStdString()});
    QVERIFY(text.has_value());
    QCOMPARE(text->lines.size(), 2);
    QCOMPARE(sources->doubt(*text, module), QString());
    file(QStringLiteral("a.c"), "int a;\n", built.addSecs(60));
    QVERIFY(sources->doubt(*text, module).contains(QStringLiteral("changed after prog was built")));
    // Without the program there is nothing to compare with.
    module.path = "/nowhere/prog";
    QCOMPARE(sources->doubt(*text, module), QString());
  }

  void ofSeveralFilesTheOneThatWasCompiledIsShown() {
    QVERIFY(QDir(m_folder.path()).mkpath(QStringLiteral("old")));
    QVERIFY(QDir(m_folder.path()).mkpath(QStringLiteral("new")));
    const QByteArray compiled = "int a;\n", changed = "int b;\n";
    file(QStringLiteral("old/c.c"), compiled);
    file(QStringLiteral("new/c.c"), changed);
    const auto sources =
        app::fileSources({{QStringLiteral("/built"), m_folder.filePath(QStringLiteral("new"))},
                          {QStringLiteral("/built"), m_folder.filePath(QStringLiteral("old"))}});
    model::SourceFile source;
    source.path = "/built/c.c";
    QCOMPARE(sources->source(source)->lines, QStringList{QStringLiteral("int b;")});
    const model::Md5 sum =
        model::md5(std::as_bytes(std::span(compiled.constData(), static_cast<std::size_t>(compiled.size()))));
    source.checksums = {{{0}, sum}};
    const auto text = sources->source(source);
    QCOMPARE(text->lines, QStringList{QStringLiteral("int a;")});
    QCOMPARE(model::versionOf(source, {0}, *text->md5), model::SourceVersion::Same);
    // Where none is, the first is shown, and known to be another.
    file(QStringLiteral("old/c.c"), "int d;\n");
    const auto other = sources->source(source);
    QCOMPARE(other->lines, QStringList{QStringLiteral("int b;")});
    QCOMPARE(model::versionOf(source, {0}, *other->md5), model::SourceVersion::Other);
  }

  void commandsForEditorsAreFilledIn_data() {
    QTest::addColumn<QString>("command");
    QTest::addColumn<QStringList>("parts");
    QTest::newRow("both marks") << "edit -l %l %f" << QStringList{"edit", "-l", "12", "/a b/%l.c"};
    QTest::newRow("in one word") << "code -g %f:%l" << QStringList{"code", "-g", "/a b/%l.c:12"};
    QTest::newRow("without a mark") << "edit" << QStringList{"edit", "/a b/%l.c"};
    QTest::newRow("quoted") << "\"my editor\" %f" << QStringList{"my editor", "/a b/%l.c"};
    QTest::newRow("percent") << "edit 100%% %f" << QStringList{"edit", "100%", "/a b/%l.c"};
    QTest::newRow("empty") << "" << QStringList{};
  }
  void commandsForEditorsAreFilledIn() {
    QFETCH(QString, command);
    QFETCH(QStringList, parts);
    QCOMPARE(app::editorCommand(command, QStringLiteral("/a b/%l.c"), 12), parts);
  }

  void theEditorOfTheEnvironmentIsUsedUnlessItNeedsATerminal() {
    qunsetenv("EDITOR");
    qputenv("VISUAL", "kate");
    QCOMPARE(app::defaultEditor(), QStringLiteral("kate --line %l %f"));
    qputenv("VISUAL", "vi");
    QCOMPARE(app::defaultEditor(), QStringLiteral("xdg-open %f"));
    qputenv("EDITOR", "/usr/bin/gvim");
    QCOMPARE(app::defaultEditor(), QStringLiteral("/usr/bin/gvim +%l %f"));
    qunsetenv("VISUAL");
    qunsetenv("EDITOR");
  }

  void theEditorIsStarted() {
    const QString told = m_folder.filePath(QStringLiteral("told"));
    const QString script =
        file(QStringLiteral("edit"),
             "#!/bin/sh\necho \"$1|$2\" > \"$0.new\"; mv \"$0.new\" \"" + told.toUtf8() + "\"\n");
    QVERIFY(QFile::setPermissions(script, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
    QVERIFY(app::openInEditor(script + QStringLiteral(" %f %l"), QStringLiteral("/src/a b.c"), 7));
    QTRY_VERIFY(QFile::exists(told));
    QFile answer(told);
    QVERIFY(answer.open(QIODevice::ReadOnly));
    QCOMPARE(answer.readAll(), QByteArray("/src/a b.c|7\n"));
    const auto none = app::openInEditor(QStringLiteral("/nowhere/editor"), QStringLiteral("/src/a.c"), 1);
    QVERIFY(!none);
    QVERIFY(none.error().contains(QStringLiteral("/nowhere/editor")));
  }
};

QTEST_GUILESS_MAIN(SourceFiles)
#include "tst_source_files.moc"
