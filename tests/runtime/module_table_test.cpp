// Binding modules (runtime/inject/modules/modules.h) in this process, with the loaded objects handed in:
// whatever comes and goes at the same time, and whatever an object says of itself.
//
// TRACEBACK_SEED chooses the damage.
#include <link.h>
#include <sys/mman.h>

#include <QTest>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "module_process.h"
#include "runtime/format/record.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/modules/brought_cursors.h"
#include "runtime/inject/modules/copy_addresses.h"
#include "runtime/inject/modules/modules.h"
#include "runtime/inject/rings/thread.h"

using namespace traceback;
using format::BindState;
using format::ModuleHeader;

namespace {

constexpr std::uint64_t kPage = 4096, kCode = kPage, kSlots = 2 * kPage, kCopy = 2048;
constexpr std::uint64_t kReturn = 1536;  // where original code would stand
constexpr std::uint32_t kSpan = 2048, kFixups = 8, kFixupTable = 512, kAddresses = 256, kFirstWord = 1024;

// An instrumented file that is mapped: a page of code with the module's table, one of data, and behind each
// nothing that can be touched.
class Object {
 public:
  Object(std::uint8_t mapId, std::uint32_t codeBase)
      : m_memory(static_cast<std::uint8_t*>(
            ::mmap(nullptr, 5 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        name("/handed/in/" + std::to_string(mapId)) {
    ::mprotect(m_memory + kPage, kPage, PROT_READ | PROT_WRITE);
    ::mprotect(m_memory + 3 * kPage, kPage, PROT_READ | PROT_WRITE);
    ModuleHeader header{};
    header.magic = format::kModuleMagic;
    header.version = format::kModuleVersion;
    header.headerSize = sizeof header;
    header.threadSlot = format::kThreadSlot;
    std::memset(header.mapId, mapId, sizeof header.mapId);
    header.address = kCode;
    header.moduleSlots = 3 * kPage;
    header.codeBase = codeBase;
    header.codeSpan = kSpan;
    header.copyStart = kCode + kCopy;
    header.copyEnd = kCode + kPage;
    header.addressOffset = kAddresses;
    header.addressCount = 1;
    header.fixupOffset = kFixupTable;
    header.fixupCount = kFixups;
    const format::AddressEntry entry{static_cast<std::uint32_t>(kCode + kCopy), 0x9000};
    std::memcpy(code() + kAddresses, &entry, sizeof entry);
    for (std::uint32_t i = 0; i < kFixups; ++i) {
      const std::uint32_t at = kFirstWord + 5 * i;
      const format::Word word = format::dagRecord(codeBase + i * 16);
      std::memcpy(code() + kFixupTable + i * sizeof at, &at, sizeof at);
      std::memcpy(code() + at, &word, sizeof word);
    }
    code()[kReturn] = 0xC3;  // ret
    write(header);
  }
  ~Object() { ::munmap(m_memory, 5 * kPage); }
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  ModuleHeader header() const {
    ModuleHeader header;
    std::memcpy(&header, code(), sizeof header);
    return header;
  }
  // And makes it executable.
  void write(const ModuleHeader& header) {
    ::mprotect(code(), kPage, PROT_READ | PROT_WRITE);
    std::memcpy(code(), &header, sizeof header);
    ::mprotect(code(), kPage, PROT_READ | PROT_EXEC);
  }
  std::uint8_t* code() const { return m_memory + kPage; }
  void callOriginal() const { reinterpret_cast<void (*)()>(code() + kReturn)(); }
  std::uint64_t copy() const { return reinterpret_cast<std::uint64_t>(code()) + kCopy; }
  std::uint64_t bias() const { return reinterpret_cast<std::uint64_t>(m_memory); }
  bool isBound() const {
    return __atomic_load_n(reinterpret_cast<std::uint64_t*>(m_memory + 3 * kPage), __ATOMIC_ACQUIRE) != 0;
  }
  // By the words of its probes; 0 if they do not agree.
  std::uint32_t codeBase() const {
    std::uint32_t base = 0;
    for (std::uint32_t i = 0; i < kFixups; ++i) {
      format::Word word;
      std::memcpy(&word, code() + kFirstWord + 5 * i, sizeof word);
      const std::uint32_t each = format::codeOf(word) - i * 16;
      if (i != 0 && each != base) return 0;
      base = each;
    }
    return base;
  }

  dl_phdr_info info() {
    m_segments[0].p_type = m_segments[1].p_type = PT_LOAD;
    m_segments[0].p_flags = PF_R | PF_X;
    m_segments[1].p_flags = PF_R | PF_W;
    m_segments[0].p_vaddr = kCode;
    m_segments[1].p_vaddr = 3 * kPage;
    for (auto& segment : m_segments) segment.p_filesz = segment.p_memsz = kPage;
    dl_phdr_info info{};
    info.dlpi_addr = bias();
    info.dlpi_name = name.c_str();
    info.dlpi_phdr = m_segments;
    info.dlpi_phnum = 2;
    return info;
  }

 private:
  std::uint8_t* m_memory;

 public:
  std::string name;

 private:
  ElfW(Phdr) m_segments[2] = {};
};

// What the dynamic linker has.
std::mutex linkersLock;
std::vector<Object*> loaded;
unsigned long long adds = 1, subs = 0;

void load(Object& object) {
  const std::lock_guard guard(linkersLock);
  loaded.push_back(&object);
  ++adds;
}
void unload(Object& object) {
  const std::lock_guard guard(linkersLock);
  std::erase(loaded, &object);
  ++subs;
}

format::ProcessModule entryOf(const Object& object) {
  for (const auto& module : testing::modules())
    if (module.unloaded == 0 && module.loadBias == object.bias()) return module;
  return {};
}

BindState stateOf(const Object& object) { return static_cast<BindState>(entryOf(object).bindState); }

}  // namespace

// What modules.cpp calls here instead of dl_iterate_phdr().
int traceback::inject::iterateObjects(int (*callback)(dl_phdr_info*, std::size_t, void*), void* data) {
  const std::lock_guard guard(linkersLock);
  dl_phdr_info first{};  // the program itself, which is no module
  first.dlpi_name = "";
  first.dlpi_adds = adds;
  first.dlpi_subs = subs;
  if (const int result = callback(&first, sizeof first, data); result != 0) return result;
  for (Object* object : loaded) {
    dl_phdr_info info = object->info();
    info.dlpi_adds = adds;
    info.dlpi_subs = subs;
    if (const int result = callback(&info, sizeof info, data); result != 0) return result;
  }
  return 0;
}

class ModuleTableTest : public QObject {
  Q_OBJECT
 private slots:
  void cleanup() {
    {
      const std::lock_guard guard(linkersLock);
      loaded.clear();
      ++subs;
    }
    inject::bindNewModules();
    testing::forgetModules();
  }

  void aModuleIsBoundAndItsAddressesAreTranslated() {
    Object object(1, 0x10000);
    load(object);
    QVERIFY(!object.isBound());
    inject::bindNewModules();
    QVERIFY(object.isBound());
    QCOMPARE(stateOf(object), BindState::Bound);
    QCOMPARE(object.codeBase(), 0x10000u);
    QCOMPARE(inject::originalAddress(object.copy() - 1), object.copy() - 1);
    QCOMPARE(inject::originalAddress(object.copy() + 5), object.bias() + 0x9005);
    unload(object);
    inject::bindNewModules();
    QCOMPARE(inject::originalAddress(object.copy()), object.copy());
  }

  void modulesThatWantTheSameCodesAreMovedApart() {
    std::vector<std::unique_ptr<Object>> objects;
    for (std::uint8_t i = 1; i <= 20; ++i) {
      objects.push_back(std::make_unique<Object>(i, 0x10000));
      load(*objects.back());
      inject::bindNewModules();
    }
    std::set<std::uint32_t> bases;
    for (const auto& object : objects) {
      QCOMPARE(stateOf(*object), BindState::Bound);
      QCOMPARE(entryOf(*object).codeBase, object->codeBase());
      for (const std::uint32_t base : bases)
        QVERIFY(base + kSpan <= object->codeBase() || object->codeBase() + kSpan <= base);
      bases.insert(object->codeBase());
      // So its DAGs have their codes where they may be.
      QCOMPARE(object->codeBase() % (1u << format::kMaxPathBits), 0x10000u % (1u << format::kMaxPathBits));
    }
    QCOMPARE(bases.size(), 20u);
  }

  void whoComesBackHasItsCodesAndItsPlaceAgain() {
    Object first(1, 0x10000);
    load(first);
    inject::bindNewModules();
    auto second = std::make_unique<Object>(2, 0x10000);
    load(*second);
    inject::bindNewModules();
    const std::uint32_t base = second->codeBase();
    QVERIFY(base != 0x10000);
    const std::size_t known = testing::modules().size();
    for (int i = 0; i < 10; ++i) {
      unload(*second);
      inject::bindNewModules();
      second = std::make_unique<Object>(2, 0x10000);
      load(*second);
      inject::bindNewModules();
      QVERIFY(second->isBound());
      QCOMPARE(second->codeBase(), base);
    }
    QVERIFY(testing::modules().size() <= known + 10);
    // Loaded twice, it cannot have them twice.
    Object third(2, 0x10000);
    load(third);
    inject::bindNewModules();
    QVERIFY(third.isBound() && third.codeBase() != base && third.codeBase() != 0x10000);
  }

  void whatWantsMoreCodesThanAreLeftIsNotBound() {
    Object first(1, 0x10000), greedy(2, 0x10000);
    ModuleHeader header = greedy.header();
    header.codeBase = format::kFirstCode;
    header.codeSpan = format::kEndCode - format::kFirstCode;
    greedy.write(header);
    load(first);
    load(greedy);
    inject::bindNewModules();
    QVERIFY(first.isBound() && !greedy.isBound());
    QCOMPARE(stateOf(greedy), BindState::CodesTaken);
  }

  void theRoutineOfAnAddressIsFound() {
    Object object(1, 0x10000);
    constexpr std::uint32_t kTable = 0x100, kFirst = kCode + 0x200;
    const format::RecordRoutine record{kFirst, 30, 40, 50, 0};
    const format::BitRoutine bit{kFirst + 70, 3, 36, 0, 0};
    ModuleHeader header = object.header();
    header.routineOffset = kTable;
    header.bitRoutineOffset = kTable + sizeof record;
    header.routineCount = header.bitRoutineCount = 1;
    object.write(header);
    ::mprotect(object.code(), kPage, PROT_READ | PROT_WRITE);
    std::memcpy(object.code() + kTable, &record, sizeof record);
    std::memcpy(object.code() + kTable + sizeof record, &bit, sizeof bit);
    ::mprotect(object.code(), kPage, PROT_READ | PROT_EXEC);
    load(object);
    inject::bindNewModules();
    QVERIFY(object.isBound());
    const auto at = [&](std::uint32_t place) { return inject::routineAt(object.bias() + place); };
    const auto none = [](const inject::RoutineAt& found) { return !found.record && !found.bit; };
    QVERIFY(none(at(kFirst - 1)) && none(at(kFirst + 63)) && none(at(kFirst + 69)) && none(at(kFirst + 106)));
    for (const std::uint32_t place : {kFirst, kFirst + 62}) {
      const auto found = at(place);
      QVERIFY(found.record && !found.bit);
      QCOMPARE(found.start, object.bias() + kFirst);
      QCOMPARE(unsigned{found.record->claimed}, 40U);
    }
    for (const std::uint32_t place : {kFirst + 70, kFirst + 105}) {
      const auto found = at(place);
      QVERIFY(found.bit && !found.record);
      QCOMPARE(found.start, object.bias() + kFirst + 70);
      QCOMPARE(unsigned{found.bit->bit}, 3U);
    }
  }

  // In code that may run meanwhile: by one store, and nothing beside it.
  void headsCallARoutineOnceCalleesAreDistrusted() {
    Object object(1, 0x10000);
    constexpr std::uint32_t kTable = 0x100, kRoutine = 0x140, kFirst = kCopy + 0x23, kCrossing = kCopy + 0x44;
    const std::array<format::BroughtHead, 2> heads{
        {{kCode + kFirst, kCode + kRoutine}, {kCode + kCrossing, kCode + kRoutine}}};
    ModuleHeader header = object.header();
    header.broughtHeadOffset = kTable;
    header.broughtHeadCount = 2;
    object.write(header);
    ::mprotect(object.code(), kPage, PROT_READ | PROT_WRITE);
    std::memcpy(object.code() + kTable, heads.data(), sizeof heads);
    std::memset(object.code() + kCopy + 0x20, 0x90, 0x40);
    ::mprotect(object.code(), kPage, PROT_READ | PROT_EXEC);
    std::array<std::uint8_t, 0x40> expected;
    expected.fill(0x90);
    load(object);
    inject::bindNewModules();
    QVERIFY(object.isBound());
    inject::distrustCallees();
    const std::int32_t distance = std::int32_t(kRoutine) - std::int32_t(kFirst + 5);
    expected[3] = 0xE8;
    std::memcpy(expected.data() + 4, &distance, sizeof distance);
    QVERIFY(std::memcmp(object.code() + kCopy + 0x20, expected.data(), expected.size()) == 0);
  }

  void theVersionBeforeIsBound() {
    Object object(1, 0x10000);
    ModuleHeader header = object.header();
    header.version = format::kOldestModuleVersion;
    object.write(header);
    load(object);
    inject::bindNewModules();
    QVERIFY(object.isBound());
  }

  // The one that is bound first decides where all look, if that is a place for it.
  void modulesThatLookForTheirSegmentElsewhereAreNotBound() {
    constexpr std::int32_t kFar = -48'000, kNowhere = -0x20000;
    for (const auto& [first, second] : {std::pair(format::kThreadSlot, kFar), {kFar, format::kThreadSlot}}) {
      testing::forgetModules();
      Object nowhere(1, 0x10000), one(2, 0x20000), same(3, 0x30000), other(4, 0x40000);
      for (const auto& [object, place] :
           {std::pair(&nowhere, kNowhere), {&one, first}, {&same, first}, {&other, second}}) {
        ModuleHeader header = object->header();
        header.threadSlot = place;
        object->write(header);
        load(*object);
      }
      inject::bindNewModules();
      QVERIFY(one.isBound() && same.isBound());
      QCOMPARE(inject::threadSlot, std::int64_t{first});
      for (const Object* left : {&nowhere, &other}) QVERIFY(!left->isBound());
      for (const Object* left : {&nowhere, &other}) QCOMPARE(stateOf(*left), BindState::NoThreadSlot);
      for (Object* object : {&nowhere, &one, &same, &other}) unload(*object);
      inject::bindNewModules();
    }
  }

  // A library that is bound first, for the program is not instrumented, leaves nothing to be learned.
  void whetherTheProgramIsKnownStandsInItsHeader() {
    struct Case {
      const char* name;
      std::uint32_t flags, headerSize;
      bool isKnown;
    };
    const Case cases[] = {{"", 0, sizeof(ModuleHeader), false},
                          {"", format::kModuleKnown, sizeof(ModuleHeader), true},
                          {"", format::kModuleKnown, format::kOldestModuleHeaderSize, false},
                          {"/a/library.so", 0, sizeof(ModuleHeader), true}};
    for (const Case& one : cases) {
      Object object(1, 0x10000), library(2, 0x40000);
      object.name = one.name;
      ModuleHeader header = object.header();
      header.flags = one.flags;
      header.headerSize = one.headerSize;
      object.write(header);
      load(object);
      load(library);
      testing::forgetModules();
      testing::toldOfTheProgram();
      inject::bindNewModules();
      QVERIFY(object.isBound() && library.isBound());
      QCOMPARE(testing::toldOfTheProgram(), std::vector<bool>{one.isKnown});
      unload(object);
      unload(library);
      inject::bindNewModules();
    }
  }

  // Nothing outside of the object's memory is touched, which would end the test.
  void whatAnObjectSaysOfItselfIsNotBelieved() {
    std::mt19937 random(qEnvironmentVariable("TRACEBACK_SEED", "1").toUInt());
    unsigned bound = 0, refused = 0;
    for (unsigned i = 0; i < 3000; ++i) {
      Object object(static_cast<std::uint8_t>(1 + i % 200), 0x10000);
      ModuleHeader header = object.header();
      auto* const words = reinterpret_cast<std::uint32_t*>(&header);
      for (auto count = 1 + random() % 2; count > 0; --count) {
        const std::size_t at = 2 + random() % (sizeof header / sizeof *words - 2);
        constexpr std::uint32_t kNumbers[] = {0,           1,           2,           4096,       4097,
                                              0x7FFF'FFFF, 0x8000'0000, 0xFFFF'FFFF, 0x3FFF'FFFF};
        words[at] = random() % 2 == 0 ? kNumbers[random() % std::size(kNumbers)]
                                      : words[at] + static_cast<std::uint32_t>(random() % 64) - 32;
      }
      object.write(header);
      load(object);
      inject::bindNewModules();
      (object.isBound() ? bound : refused) += 1;
      inject::originalAddress(object.copy() + 7);
      inject::routineAt(object.copy() - 1);
      unload(object);
      inject::bindNewModules();
      testing::forgetModules();
    }
    QVERIFY2(bound > 100 && refused > 500, qPrintable(QString("%1 %2").arg(bound).arg(refused)));
  }

  // Whoever opened the same library, and did not wait until it was bound, runs its original code.
  void whileAModuleIsMovedItsOriginalCodeRuns() {
    Object first(1, 0x10000);
    load(first);
    inject::bindNewModules();
    for (int i = 0; i < 300; ++i) {
      Object second(2, 0x10000);
      std::atomic<bool> runs = false, over = false;
      std::thread caller([&] {
        while (!over) {
          second.callOriginal();
          runs = true;
        }
      });
      while (!runs) std::this_thread::yield();
      load(second);
      inject::bindNewModules();
      over = true;
      caller.join();
      QVERIFY(second.isBound() && second.codeBase() != 0x10000);
      unload(second);
      inject::bindNewModules();
    }
  }

  void manyComeAndGoAtOnce() {
    constexpr unsigned kThreads = 6, kRounds = 150;
    std::atomic<unsigned> wrong = 0;
    std::atomic<bool> over = false;
    Object always(250, 0x90000);
    load(always);
    inject::bindNewModules();
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        for (unsigned k = 0; k < kRounds; ++k) {
          Object object(static_cast<std::uint8_t>(1 + i), 0x10000);
          load(object);
          inject::bindNewModules();
          // Another thread may be at it, and sees to what came too late for it.
          for (int tries = 0; !object.isBound() && tries < 10'000; ++tries) std::this_thread::yield();
          if (!object.isBound() || inject::originalAddress(object.copy() + 1) != object.bias() + 0x9001)
            ++wrong;
          unload(object);
          inject::bindNewModules();
        }
      });
    std::thread reader([&] {
      while (!over)
        if (inject::originalAddress(always.copy()) != always.bias() + 0x9000) ++wrong;
    });
    for (std::thread& thread : threads) thread.join();
    over = true;
    reader.join();
    QCOMPARE(wrong.load(), 0u);
    // Each file has had the same codes each time.
    std::map<std::uint8_t, std::set<std::uint32_t>> bases;
    for (const auto& module : testing::modules()) bases[module.mapId[0]].insert(module.codeBase);
    for (const auto& [mapId, each] : bases) QCOMPARE(each.size(), 1u);
  }
};

QTEST_GUILESS_MAIN(ModuleTableTest)
#include "module_table_test.moc"
