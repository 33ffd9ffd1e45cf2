// What the site's rules keep out of a snap is nowhere in it.
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTest>
#include <filesystem>

#include "runtime/collect/snap/recover.h"
#include "runtime/collect/snap/redaction.h"
#include "snap_dump.h"
#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;

namespace {

constexpr char kPlanted[] = "planted-in-the-environment-4711";
constexpr char kArgument[] = "planted-as-an-argument-0815";

struct SecretRun : TracedRun {
  // `memory` as the program is told, `rules` as the site has them.
  SecretRun(const QString& memory, const QByteArray& rules) : TracedRun("secrets") {
    QDir(folder.path()).mkpath(".config/traceback");
    QFile file(folder.filePath(".config/traceback/site"));
    if (file.open(QIODevice::WriteOnly)) file.write(rules);
    file.close();
    setVariable("HOME", folder.path());
    qputenv("HOME", folder.path().toUtf8());  // of the snaps that are made here
    setVariable("TRACEBACK_MEMORY", memory);
    setVariable("PLANTED", kPlanted);
  }
  // All bytes of the one snap.
  std::string snapped(const QString& how) {
    if (how == "fault") {
      run({how, kArgument});
    } else {
      auto process = start({how, kArgument});
      if (!process->waitForReadyRead(30'000)) return {};
      collect::SnapOptions options;
      options.snapFolder = snapFolder();
      if (!collect::snapProcess(static_cast<pid_t>(process->processId()), options)) return {};
      process->write("\n");
      finish(*process);
    }
    return snaps().size() == 1 ? inflatedSections(snaps()[0]) : std::string();
  }
  QTemporaryDir folder;
};

collect::MemoryPart partOf(const std::string& text) {
  return {.start = 0x1000, .flags = 0, .bytes = {text.begin(), text.end()}};
}

// By the C library, by the exception that ended the process, and by one before.
collect::ProcessFolder folderThatSays(const std::string& text) {
  collect::ProcessFolder folder{};
  folder.thrown.resize(1);
  std::ranges::copy(text, folder.header.abortMessage);
  std::ranges::copy(text, folder.header.thrownMessage);
  std::ranges::copy(text, folder.thrown[0].text);
  return folder;
}
QByteArray saidIn(const collect::ProcessFolder& folder) {
  const auto textOf = [](const std::uint8_t* field) {
    return QByteArray(reinterpret_cast<const char*>(field));
  };
  return textOf(folder.header.abortMessage) + '|' + textOf(folder.header.thrownMessage) + '|' +
         textOf(folder.thrown[0].text);
}
// By all three.
QByteArray thrice(const QByteArray& text) { return text + '|' + text + '|' + text; }

// Runs until its input ends, with a password in its environment and an argument.
struct Secretive : QProcess {
  Secretive() {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("PASSWORD", "open-sesame");
    setProcessEnvironment(environment);
    start("sh", {"-c", "echo; read -r line; exit 0", "sea_shells"});
  }
  // What is left of what was said at its end.
  QByteArray redacted(const std::string& said, std::uint32_t redaction) const {
    collect::ProcessFolder folder = folderThatSays(said);
    collect::redactMessages(static_cast<pid_t>(processId()), redaction, folder);
    return saidIn(folder);
  }
  bool end() {
    closeWriteChannel();
    return waitForFinished(30'000);
  }
};

}  // namespace

class RedactionTest : public QObject {
  Q_OBJECT
 private slots:
  void withoutARuleEverythingIsThere() {
    SecretRun traced("writable", "");
    const std::string bytes = traced.snapped("fault");
    QVERIFY(bytes.contains(kPlanted) && bytes.contains(kArgument) && bytes.contains("4711/tail"));
    QVERIFY(bytes.contains(TracedRun::programPath("secrets").toStdString()));
    QVERIFY(!bytes.contains("redacted="));
  }

  void whatTheRulesNameIsNowhereInTheSnap_data() {
    QTest::addColumn<QByteArray>("rules");
    QTest::addColumn<bool>("environment");
    QTest::addColumn<bool>("arguments");
    QTest::addColumn<bool>("paths");
    QTest::newRow("environment") << QByteArray("redact environment\n") << true << false << false;
    QTest::newRow("arguments") << QByteArray("redact arguments\n") << false << true << false;
    QTest::newRow("paths") << QByteArray("redact paths\n") << false << false << true;
    QTest::newRow("all") << QByteArray("redact environment arguments paths stacks\n") << true << true << true;
  }
  void whatTheRulesNameIsNowhereInTheSnap() {
    QFETCH(QByteArray, rules);
    QFETCH(bool, environment);
    QFETCH(bool, arguments);
    QFETCH(bool, paths);
    for (const char* how : {"fault", "wait"}) {
      for (const char* memory : {"stacks", "writable", "all"}) {
        SecretRun traced(memory, rules);
        const std::string bytes = traced.snapped(how);
        QVERIFY2(!bytes.empty(), memory);
        QVERIFY2(!(environment && bytes.contains(kPlanted)), memory);
        QVERIFY2(!(arguments && bytes.contains(kArgument)), memory);
        const std::string folder =
            std::filesystem::path(TracedRun::programPath("secrets").toStdString()).parent_path();
        QCOMPARE(bytes.contains(folder), !paths);
        QCOMPARE(bytes.contains("/redacted/secrets"), paths);
        QVERIFY(bytes.contains("redacted="));
        QVERIFY(dumpSnap(traced.snaps()[0])->extendedRegisters.empty());
      }
    }
  }

  void withoutStacksTheRestOfTheMemoryStays() {
    SecretRun traced("writable", "redact stacks\n");
    const std::string bytes = traced.snapped("fault");
    QVERIFY(bytes.contains(kPlanted));        // on the heap
    QVERIFY(!bytes.contains("4711/tail"));    // on a thread's stack
    QVERIFY(!bytes.contains("PLANTED="));     // on the first one's
    const auto snap = dumpSnap(traced.snaps()[0]);
    QVERIFY(snap);
    for (const auto& range : snap->memoryRanges) QCOMPARE(range.flags & format::kMemoryStack, 0u);
  }

  void aRecoveredSnapKeepsToTheRulesToo() {
    SecretRun traced("stacks", "redact paths\n");
    auto process = traced.start({"wait", kArgument});
    QVERIFY(process->waitForReadyRead(30'000));
    process->kill();
    traced.finish(*process);
    const auto snaps =
        collect::recover({.folder = traced.ringFolder(), .snapFolder = traced.snapFolder(), .onProblem = {}});
    QVERIFY(snaps && snaps->size() == 1);
    const std::string bytes = inflatedSections(snaps->front());
    QVERIFY(bytes.contains("/redacted/secrets"));
    QVERIFY(!bytes.contains(
        std::filesystem::path(TracedRun::programPath("secrets").toStdString()).parent_path().string()));
  }

  void copiesAreMaskedWhereverTheyLie() {
    std::vector<collect::MemoryPart> parts;
    parts.push_back(partOf("xxpassword-1password-12password-"));
    parts.push_back(partOf("short"));
    collect::maskCopies(
        {"password-1", "assword-12passw", "short", "", "longer than all of it together, by far"}, parts);
    QCOMPARE(std::string(parts[0].bytes.begin(), parts[0].bytes.end()), "xx" + std::string(26, '*') + "ord-");
    QCOMPARE(std::string(parts[1].bytes.begin(), parts[1].bytes.end()), std::string("short"));
  }

  void pathsInATextAreFoundWhereverTheyEnd_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("redacted");
    QTest::newRow("none") << "no path, 1/2 and a/b" << "no path, 1/2 and a/b";
    QTest::newRow("a system's") << "note=/usr/lib/libc.so.6: missing" << "note=/usr/lib/libc.so.6: missing";
    QTest::newRow("an error's") << "/srv/shop/bin/shop: is not there" << "/redacted/shop: is not there";
    QTest::newRow("with a line") << "reported shift at /srv/shop/a.c:12"
                                 << "reported shift at /redacted/a.c:12";
    QTest::newRow("with blanks") << "note=/srv/my shop/in here/shop: gone" << "note=/redacted/shop: gone";
    QTest::newRow("quoted") << "not '/srv/shop/a' but \"/srv/shop/b\""
                            << "not '/redacted/a' but \"/redacted/b\"";
    QTest::newRow("an assertion's") << "shop: /srv/shop/a.c:3: take: Assertion `n > 0' failed.\n"
                                    << "shop: /redacted/a.c:3: take: Assertion `n > 0' failed.\n";
    QTest::newRow("lines") << "a=/srv/x/y\nb=/srv/z\n" << "a=/redacted/y\nb=/redacted/z\n";
    QTest::newRow("alone") << "/" << "/redacted/";
  }
  void pathsInATextAreFoundWhereverTheyEnd() {
    QFETCH(QString, text);
    QFETCH(QString, redacted);
    const collect::PathRedactor redactor(collect::kRedactPaths);
    QCOMPARE(QString::fromStdString(redactor.text(text.toStdString())), redacted);
    QCOMPARE(QString::fromStdString(collect::PathRedactor(0).text(text.toStdString())), text);
  }

  void aProcessNamesNoneInWhatItsExceptionsSaidAndWhatWasSaidAtItsEnd() {
    const collect::ProcessFolder folder =
        folderThatSays("/srv/shop/a.c:3: take: Assertion `n > 0' failed.\n");
    const auto redacted = [&](std::uint32_t redaction) {
      const collect::PathRedactor paths(redaction);
      collect::ProcessFolder left;
      left.header = paths.header(folder.header);
      left.thrown = paths.thrown(folder.thrown);
      return saidIn(left);
    };
    QCOMPARE(redacted(0), saidIn(folder));
    QCOMPARE(redacted(collect::kRedactPaths), thrice("/redacted/a.c:3: take: Assertion `n > 0' failed.\n"));
  }

  void environmentAndArgumentsAreMaskedInWhatWasSaidAtItsEnd_data() {
    QTest::addColumn<unsigned>("redaction");
    QTest::addColumn<QByteArray>("left");
    QTest::newRow("nothing is kept out") << 0u << QByteArray("no user open-sesame at sea_shells");
    QTest::newRow("paths") << unsigned{collect::kRedactPaths}
                           << QByteArray("no user open-sesame at sea_shells");
    QTest::newRow("environment") << unsigned{collect::kRedactEnvironment}
                                 << QByteArray("no user *********** at sea_shells");
    QTest::newRow("arguments") << unsigned{collect::kRedactArguments}
                               << QByteArray("no user open-sesame at **********");
  }
  void environmentAndArgumentsAreMaskedInWhatWasSaidAtItsEnd() {
    QFETCH(unsigned, redaction);
    QFETCH(QByteArray, left);
    Secretive process;
    QVERIFY(process.waitForReadyRead(30'000));
    QCOMPARE(process.redacted("no user open-sesame at sea_shells", redaction), thrice(left));
    QVERIFY(process.end());
  }

  void soIsWhatWasCutOffWithinOne() {
    Secretive process;
    QVERIFY(process.waitForReadyRead(30'000));
    constexpr std::size_t kMost = 255;
    for (const QByteArray part : {"open-sesame", "open-sesam", "open-s", "op"}) {
      const QByteArray before(kMost - part.size() - 1, '#');
      const QByteArray masked = before + ' ' + QByteArray(part.size(), '*');
      QCOMPARE(process.redacted((before + ' ' + part).toStdString(), collect::kRedactEnvironment),
               thrice(masked));
      // Not at the end of one that is whole.
      const QByteArray whole = "by " + part.first(part.size() - 1);
      QCOMPARE(process.redacted(whole.toStdString(), collect::kRedactEnvironment), thrice(whole));
    }
    QVERIFY(process.end());
  }

  void nothingStaysOfWhatWasSaidByAProcessThatIsGone() {
    collect::ProcessFolder folder = folderThatSays("no user open-sesame");
    collect::redactMessages(std::nullopt, collect::kRedactPaths, folder);
    QCOMPARE(saidIn(folder), thrice("no user open-sesame"));
    collect::redactMessages(std::nullopt, collect::kRedactEnvironment, folder);
    QCOMPARE(saidIn(folder), thrice(""));
  }
};

QTEST_GUILESS_MAIN(RedactionTest)
#include "redaction_test.moc"
