// What commands write to: new files, those of others, links, pipes and devices.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include "app/traceback/output_file.h"
#include "tests/app/command_line.h"

using namespace traceback::app;
using namespace traceback::test;

class OutputFileTest : public QObject {
  Q_OBJECT

  QTemporaryDir m_folder;

  QString path(const char* name) const { return m_folder.filePath(name); }
  static mode_t modeOf(const QString& file) {
    struct stat status{};
    return ::stat(qPrintable(file), &status) == 0 ? status.st_mode & 07777 : 0;
  }
  static bool written(const QString& name, std::string_view text, mode_t mode = 0666) {
    OutputFile file(name.toStdString(), mode);
    return file.write(text) && file.keep();
  }

 private slots:
  void initTestCase() {
    QVERIFY(m_folder.isValid());
    ::umask(022);
  }
  void init() {
    for (const QString& name : QDir(m_folder.path()).entryList(QDir::Files | QDir::System | QDir::Hidden))
      QVERIFY(QFile::remove(m_folder.filePath(name)));
  }

  void aNewFileIsWholeOrNotThere() {
    QVERIFY(written(path("new"), "text"));
    QCOMPARE(readFile(path("new")), QByteArray("text"));
    QCOMPARE(modeOf(path("new")), mode_t(0644));
    {
      OutputFile file(path("other").toStdString());
      QVERIFY(file.write("half"));
    }
    QCOMPARE(listing(m_folder.path()), QStringList{"new"});
  }

  void aFileThatOthersMayNotReadStaysSo() {
    QVERIFY(written(path("core"), "text", 0600));
    QCOMPARE(modeOf(path("core")), mode_t(0600));
    QVERIFY(writeFile(path("mine"), "old"));
    QCOMPARE(::chmod(qPrintable(path("mine")), 0640), 0);
    QVERIFY(written(path("mine"), "new"));
    QCOMPARE(readFile(path("mine")), QByteArray("new"));
    QCOMPARE(modeOf(path("mine")), mode_t(0640));
  }

  void aLinkStaysAndLeadsToWhatIsWritten_data() {
    QTest::addColumn<bool>("exists");
    QTest::newRow("to a file") << true;
    QTest::newRow("to a name that there is not yet") << false;
  }
  void aLinkStaysAndLeadsToWhatIsWritten() {
    QFETCH(bool, exists);
    if (exists) QVERIFY(writeFile(path("real"), "old"));
    QCOMPARE(::symlink("real", qPrintable(path("link"))), 0);
    QVERIFY(written(path("link"), "new"));
    QCOMPARE(QFile::symLinkTarget(path("link")), path("real"));
    QCOMPARE(readFile(path("real")), QByteArray("new"));
  }

  void aDescriptorAndADeviceAreWrittenTo() {
    int ends[2];
    QCOMPARE(::pipe(ends), 0);
    QVERIFY(written(QStringLiteral("/dev/fd/%1").arg(ends[1]), "through"));
    char text[8] = {};
    QCOMPARE(::read(ends[0], text, sizeof text), ssize_t(7));
    QCOMPARE(QByteArray(text), QByteArray("through"));
    ::close(ends[0]);
    ::close(ends[1]);
    // By a link, lest what this test is about takes the device's place.
    QCOMPARE(::symlink("/dev/null", qPrintable(path("null"))), 0);
    QVERIFY(written(path("null"), "text"));
    QCOMPARE(QFile::symLinkTarget(path("null")), QStringLiteral("/dev/null"));
  }

  void anotherFileWithTheNameOfATemporaryOneStays() {
    QVERIFY(writeFile(path("out.part"), "somebody's"));
    QVERIFY(written(path("out"), "text"));
    QCOMPARE(readFile(path("out.part")), QByteArray("somebody's"));
    QCOMPARE(readFile(path("out")), QByteArray("text"));
  }

  void whatCannotBeWrittenSaysWhy() {
    OutputFile folder(m_folder.path().toStdString());
    QCOMPARE(folder.error(), EISDIR);
    QVERIFY(!folder.write("text"));
    OutputFile nowhere(path("no/such/folder").toStdString());
    QCOMPARE(nowhere.error(), ENOENT);
    QVERIFY(!nowhere.keep());
  }
};

QTEST_GUILESS_MAIN(OutputFileTest)
#include "tst_output_file.moc"
