// Binding modules: late ones, ones whose codes are taken, ones that cannot be bound.
#include <signal.h>

#include <QFile>
#include <QTest>
#include <algorithm>

#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;
using format::BindState;

namespace {

constexpr std::uint32_t kCodes = 0x0010'0000;

std::vector<format::ProcessModule> modulesOf(const std::filesystem::path& folder) {
  const auto bytes = readBytes(folder / "process");
  std::vector<format::ProcessModule> modules(TracedRun::process(folder).moduleCount);
  if (!modules.empty())
    std::memcpy(modules.data(), bytes.data() + sizeof(format::ProcessHeader),
                modules.size() * sizeof modules[0]);
  return modules;
}

std::size_t recordsOf(const RingDump& ring, std::uint32_t base) {
  const auto codes = ring.segments[0].dagCodes();
  return static_cast<std::size_t>(
      std::ranges::count_if(codes, [&](std::uint32_t code) { return code >= base && code < base + 1024; }));
}

}  // namespace

class ModuleTest : public QObject {
  Q_OBJECT
 private slots:
  void aLibraryWhoseCodesAreTakenIsMovedToOthers() {
    TracedRun traced("modules");
    const QString library = TracedRun::programPath("libmodule.so");
    QCOMPARE(traced.run({library}).output, QByteArray("30\nmissing: 0\nerror\n"));
    const auto folder = traced.processFolders().at(0);
    const auto modules = modulesOf(folder);
    QCOMPARE(modules.size(), 2u);
    QCOMPARE(modules[0].bindState, std::uint32_t(BindState::Bound));
    QCOMPARE(modules[0].codeBase, kCodes);
    QCOMPARE(modules[1].bindState, std::uint32_t(BindState::Bound));
    QVERIFY(modules[1].codeBase >= kCodes + modules[0].codeSpan ||
            modules[1].codeBase + modules[1].codeSpan <= kCodes);
    QCOMPARE(modules[1].codeBase % 1024, 0u);
    QCOMPARE(QString::fromUtf8(reinterpret_cast<const char*>(modules[1].path)), library);
    const auto rings = traced.rings(folder);
    QCOMPARE(recordsOf(rings.at(0), kCodes), 20u);
    QCOMPARE(recordsOf(rings[0], modules[1].codeBase), 10u);
  }

  void aLibraryThatComesBackHasItsCodesAgain() {
    TracedRun traced("modules");
    const QString library = TracedRun::programPath("libmodule.so");
    // More often than the table has entries.
    QCOMPARE(traced.run({"1500", "-" + library}).output, QByteArray("15020\nmissing: 0\nerror\n"));
    const auto folder = traced.processFolders().at(0);
    const auto modules = modulesOf(folder);
    QVERIFY(modules.size() >= 2 && modules.size() < 1024);
    QCOMPARE(modules[0].unloaded, 0u);
    for (std::size_t i = 1; i < modules.size(); ++i) {
      QCOMPARE(modules[i].bindState, std::uint32_t(BindState::Bound));
      QCOMPARE(modules[i].codeBase, modules[1].codeBase);
      QCOMPARE(modules[i].unloaded, 1u);
    }
    const auto rings = traced.rings(folder);
    QCOMPARE(recordsOf(rings.at(0), kCodes), 20u);
    QCOMPARE(recordsOf(rings[0], modules[1].codeBase), 15000u);
  }

  void anUnloadedLibrarysCodesAreNoOthers() {
    TracedRun traced("modules");
    const QString one = TracedRun::programPath("libmodule.so"),
                  other = TracedRun::programPath("libother_module.so");
    // In turns, and so in the same place.
    QCOMPARE(traced.run({"700", "-" + one, "-" + other}).output, QByteArray("14020\nmissing: 0\nerror\n"));
    const auto folder = traced.processFolders().at(0);
    const auto modules = modulesOf(folder);
    QVERIFY(modules.size() >= 3);
    QVERIFY(modules[1].codeBase + modules[1].codeSpan <= modules[2].codeBase);
    const auto rings = traced.rings(folder);
    QCOMPARE(recordsOf(rings.at(0), modules[1].codeBase), 7000u);
    QCOMPARE(recordsOf(rings[0], modules[2].codeBase), 7000u);
  }

  void aLibraryThatIsLoadedTwiceHasCodesOfEach() {
    TracedRun traced("modules");
    const QString library = TracedRun::programPath("libmodule.so"),
                  copy = traced.ringFolder().parent_path().c_str() + QStringLiteral("/libcopy.so");
    QVERIFY(QFile::copy(library, copy));
    QCOMPARE(traced.run({"-" + library, copy, library}).output, QByteArray("50\nmissing: 0\nerror\n"));
    const auto modules = modulesOf(traced.processFolders().at(0));
    QCOMPARE(modules.back().unloaded, 0u);
    std::vector<std::uint32_t> living;
    for (const auto& module : modules)
      if (module.unloaded == 0) living.push_back(module.codeBase);
    QCOMPARE(living.size(), 3u);
    std::ranges::sort(living);
    QVERIFY(living[1] >= living[0] + modules[0].codeSpan && living[2] >= living[1] + modules[0].codeSpan);
  }

  void aModuleForWhichNoCodesAreLeftRunsUntraced() {
    TracedRun traced("modules");
    const QString one = TracedRun::programPath("libmodule.so"),
                  all = TracedRun::programPath("libgreedy_module.so");
    QCOMPARE(traced.run({all, one}).output, QByteArray("40\nmissing: 0\nerror\n"));
    const auto folder = traced.processFolders().at(0);
    const auto modules = modulesOf(folder);
    QCOMPARE(modules.size(), 3u);
    QCOMPARE(modules[1].bindState, std::uint32_t(BindState::CodesTaken));
    // Nor does it take any from those that come later.
    QCOMPARE(modules[2].bindState, std::uint32_t(BindState::Bound));
    const auto rings = traced.rings(folder);
    QCOMPARE(rings.at(0).segments[0].damaged, 0u);
    QCOMPARE(rings[0].segments[0].dagCodes().size(), 30u);
    QCOMPARE(recordsOf(rings[0], kCodes), 20u);
    QCOMPARE(recordsOf(rings[0], modules[2].codeBase), 10u);
  }

  void aModuleForAnotherRuntimeRunsUntraced_data() {
    QTest::addColumn<QString>("library");
    QTest::newRow("newer") << "libother_version.so";
    QTest::newRow("older: its probes claim a word before they write it") << "libolder_version.so";
  }
  void aModuleForAnotherRuntimeRunsUntraced() {
    QFETCH(QString, library);
    TracedRun traced("modules");
    QCOMPARE(traced.run({TracedRun::programPath(library)}).output, QByteArray("30\nmissing: 0\nerror\n"));
    const auto folder = traced.processFolders().at(0);
    QCOMPARE(modulesOf(folder).at(1).bindState, std::uint32_t(BindState::VersionMismatch));
    const auto rings = traced.rings(folder);
    QCOMPARE(rings.at(0).segments[0].dagCodes().size(), 20u);
  }

  void aMissingLibraryIsTheProgramsMatter() {
    TracedRun traced("modules");
    const Outcome outcome = traced.run({"/nowhere/lib.so"});
    QVERIFY2(outcome.output.startsWith("/nowhere/lib.so: cannot open shared object file"), outcome.output);
  }

  void withTooMuchThreadLocalStorageTheProgramRunsUntraced() {
    TracedRun traced("big_tls");
    const Outcome outcome = traced.run({});
    QCOMPARE(outcome.output, QByteArray("20\nmissing: 0\nerror\n"));
    QCOMPARE(outcome.status, SIGKILL);
    QVERIFY(traced.processFolders().empty());
  }
};

QTEST_GUILESS_MAIN(ModuleTest)
#include "module_test.moc"
