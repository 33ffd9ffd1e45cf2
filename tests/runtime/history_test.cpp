// The coarse history: its state machine with time and memory handed in, and what real runs leave.
#include "runtime/inject/rings/history.h"

#include <signal.h>

#include <QFile>
#include <QTest>
#include <cstring>
#include <map>
#include <numeric>

#include "traced_run.h"

using namespace traceback;
using namespace traceback::testing;
using format::HistoryEntry;
using format::HistoryHeader;
using format::Word;

namespace {

constexpr std::uint64_t kSize = format::kDefaultHistorySize;
constexpr std::uint64_t kGuard = 4096;
constexpr std::uint64_t kMillisecond = 1'000'000;

using History = std::vector<HistoryEntry>;

// The entries of a level that are whole, oldest first: read from history.h alone.
History entriesOf(const std::uint8_t* bytes, unsigned level) {
  HistoryHeader header;
  std::memcpy(&header, bytes, sizeof header);
  std::map<std::uint64_t, HistoryEntry> found;
  for (std::uint64_t slot = 0; slot < header.entriesEach; ++slot) {
    HistoryEntry entry;
    std::memcpy(
        &entry,
        bytes + header.headerSize + (level * std::uint64_t{header.entriesEach} + slot) * header.entrySize,
        sizeof entry);
    if (entry.number == 0 || (entry.number - 1) % header.entriesEach != slot ||
        entry.number > header.written[level] || entry.number + header.entriesEach <= header.written[level])
      continue;
    found[entry.number] = entry;
  }
  History entries;
  for (const auto& [number, entry] : found) entries.push_back(entry);
  return entries;
}

std::map<Word, std::uint64_t> countsOf(const HistoryEntry& entry) {
  std::map<Word, std::uint64_t> counts;
  for (const auto& count : entry.counts) {
    if (count.record == 0) break;
    counts[count.record] += count.times;
  }
  return counts;
}

bool addsUp(const HistoryEntry& entry) {
  std::uint64_t sum = entry.others;
  for (const auto& [record, times] : countsOf(entry)) sum += times;
  return sum == entry.sampled && entry.firstOrdinal <= entry.lastOrdinal && entry.looked != 0 &&
         entry.firstTime <= entry.lastTime;
}

// Whether each entry behind the first ones stands for so many sub-buffers.
bool eachIsFor(std::uint64_t subBuffers, const History& entries, std::ptrdiff_t first) {
  return std::ssize(entries) > first + 1 &&
         std::all_of(entries.begin() + first, entries.end(), [subBuffers](const HistoryEntry& entry) {
           return entry.lastOrdinal - entry.firstOrdinal + 1 == subBuffers;
         });
}

// A segment and a history of a thread that there is not, with guards around the history.
class Machine {
 public:
  enum class Keeps { Samples, Counts, Both };
  explicit Machine(std::uint32_t words = 1024, std::uint32_t count = 4, Keeps keeps = Keeps::Samples)
      : m_words(std::size_t{words} * count),
        m_history(2 * kGuard + kSize + (keeps == Keeps::Both ? format::kLearningSize : 0), 0xA5),
        m_keeps(keeps) {
    std::memset(bytes(), 0, m_history.size() - 2 * kGuard);
    m_segment = {.cursor = 0,
                 .base = reinterpret_cast<std::uint64_t>(m_words.data()),
                 .ordinal = 0,
                 .subBufferWords = words,
                 .subBufferCount = count,
                 .fileOffset = 0,
                 .subBufferStride = words,
                 .latestSignal = 0,
                 .step = {}};
    if (m_keeps == Keeps::Counts)
      inject::startCounting(header(), kSize);
    else
      inject::startHistory(header(), kSize, 0);
    if (m_keeps == Keeps::Both) inject::startLearning(header(), kSize, true);
    beginSubBuffer();
  }

  // The sub-buffer in use gets these records, then the next one begins after some ticks of the clock.
  void fill(const std::vector<Word>& records, std::uint64_t ticks = inject::kHistoryTicks,
            std::uint64_t processorTime = inject::kHistoryTime) {
    Word* front = m_words.data() + format::frontIndex(m_segment, m_segment.ordinal);
    for (std::size_t i = 0; i < records.size() && i + 4 < m_segment.subBufferWords; ++i)
      front[4 + i] = records[i];
    m_time += ticks;
    m_processorTime += processorTime;
    if (m_keeps == Keeps::Counts)
      inject::countOldest(header(), kSize, m_segment);
    else if (m_segment.ordinal >= m_pace.due && look() && m_keeps == Keeps::Both)
      counted += inject::countPart(header(), kSize, m_segment);
    ++m_segment.ordinal;
    beginSubBuffer();
  }

  HistoryHeader& header() { return *reinterpret_cast<HistoryHeader*>(bytes()); }
  std::uint8_t* bytes() { return m_history.data() + kGuard; }
  History entries(unsigned level) { return entriesOf(bytes(), level); }
  std::map<Word, std::uint64_t> counts() {
    std::map<Word, std::uint64_t> found;
    const std::uint64_t levels = std::uint64_t{header().levels} * header().entriesEach * header().entrySize;
    const auto* table = reinterpret_cast<const format::HistoryCount*>(bytes() + header().headerSize + levels);
    for (std::uint64_t i = 0; i < header().countSlots; ++i)
      if (table[i].record != 0) found[table[i].record] += table[i].times;
    return found;
  }
  std::uint64_t counted = 0;  // by countPart()
  std::uint64_t asked = 0;  // how often, for the thread's time
  unsigned room() const { return m_segment.subBufferWords - 4; }
  bool guardsHold() const {
    const auto intact = [](std::uint8_t byte) { return byte == 0xA5; };
    return std::ranges::all_of(m_history.begin(), m_history.begin() + kGuard, intact) &&
           std::ranges::all_of(m_history.end() - kGuard, m_history.end(), intact);
  }

 private:
  bool look() {
    if (!inject::isTimeToLook(header(), m_segment, m_time)) return false;
    ++asked;
    return inject::lookIntoOldest(header(), kSize, m_segment, m_processorTime, pause(), m_pace);
  }
  std::uint64_t pause() const {
    return m_keeps == Keeps::Both ? inject::kLearningTime : inject::kHistoryTime;
  }
  void beginSubBuffer() {
    Word* front = m_words.data() + format::frontIndex(m_segment, m_segment.ordinal);
    std::fill_n(front, m_segment.subBufferWords, 0);
    front[0] = format::header(format::RecordType::Timestamp, 3, 0);
    for (unsigned i = 0; i < 3; ++i) front[1 + i] = format::payload(m_time, i);
  }

  std::vector<Word> m_words;
  std::vector<std::uint8_t> m_history;
  Keeps m_keeps;
  format::SegmentHeader m_segment{};
  std::uint64_t m_time = 1, m_processorTime = 0;
  inject::HistoryPace m_pace{};
};

std::vector<Word> repeated(Word code, std::size_t times) {
  return std::vector(times, format::dagRecord(code));
}

std::vector<std::uint8_t> ringBytes(const std::filesystem::path& processFolder) {
  for (const auto& file : std::filesystem::directory_iterator(processFolder))
    if (file.path().extension() == ".ring") return readBytes(file.path());
  return {};
}

// The history in a ring file, or nothing.
std::vector<std::uint8_t> historyIn(const std::vector<std::uint8_t>& ring) {
  format::RingHeader header;
  if (ring.size() < sizeof header) return {};
  std::memcpy(&header, ring.data(), sizeof header);
  if (header.historyOffset == 0 || header.historyOffset + header.historySize > ring.size()) return {};
  return {ring.begin() + static_cast<std::ptrdiff_t>(header.historyOffset),
          ring.begin() + static_cast<std::ptrdiff_t>(header.historyOffset + header.historySize)};
}

}  // namespace

class HistoryTest : public QObject {
  Q_OBJECT
 private slots:
  void nothingIsSummedUpThatStaysInTheRing() {
    Machine machine;
    for (int i = 0; i < 3; ++i) machine.fill(repeated(5000, 100));
    QVERIFY(machine.entries(0).empty());
    machine.fill(repeated(5000, 100));
    QCOMPARE(machine.entries(0).size(), 1u);
  }

  void whatIsReadWholeIsCountedExactly() {
    Machine machine;
    std::vector<Word> records = repeated(5000, 300);
    const std::vector<Word> more = repeated(6000, 200);
    records.insert(records.end(), more.begin(), more.end());
    for (int i = 0; i < 8; ++i) machine.fill(records, inject::kHistoryTicks, 1000 * kMillisecond);
    const History entries = machine.entries(0);
    QCOMPARE(entries.size(), 5u);
    for (const HistoryEntry& entry : entries) {
      QVERIFY(addsUp(entry));
      QCOMPARE(countsOf(entry), (std::map<Word, std::uint64_t>{{format::dagRecord(5000), 300},
                                                               {format::dagRecord(6000), 200}}));
      QCOMPARE(entry.others, 0u);
    }
  }

  void littleTimeMeansASmallSample() {
    Machine machine(16384);
    for (int i = 0; i < 40; ++i) machine.fill(repeated(5000, machine.room()));
    QVERIFY(!machine.entries(0).empty());
    for (const HistoryEntry& entry : machine.entries(0)) {
      QVERIFY(addsUp(entry));
      QVERIFY(entry.sampled > 0);
      // The first had the time of all before it.
      if (entry.number != 1) QVERIFY(entry.sampled <= 512);
    }
  }

  void looksAreAtLeastSoFarApart() {
    Machine machine;
    for (int i = 0; i < 1000; ++i) machine.fill(repeated(5000, 500), inject::kHistoryTicks / 8);
    const History entries = machine.entries(0);
    QVERIFY(eachIsFor(8, entries, 1));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      QCOMPARE(entries[i].looked, 1u);
      if (i == 0) continue;
      QCOMPARE(entries[i].firstOrdinal, entries[i - 1].lastOrdinal + 1);
      QCOMPARE(entries[i].firstTime, entries[i - 1].lastTime);
    }
  }

  void ofAThreadThatHadLittleOfTheProcessorOneLookIsForMuch() {
    Machine machine;
    for (int i = 0; i < 1000; ++i)
      machine.fill(repeated(5000, 500), inject::kHistoryTicks, inject::kHistoryTime / 5);
    QVERIFY(eachIsFor(5, machine.entries(0), 1));
  }

  void howMuchTimeAThreadHadIsAskedAboutWhenItIsLikelyToBeEnough() {
    Machine machine(1024, 16);
    for (int i = 0; i < 1000; ++i)
      machine.fill(repeated(5000, 500), inject::kHistoryTicks, inject::kHistoryTime / 20);
    QVERIFY(eachIsFor(20, machine.entries(0), 2));
    QVERIFY(machine.asked <= 2 * machine.header().written[0] + 2);
  }

  void aThreadThatBecomesSlowIsStillLookedIntoOnceARound() {
    Machine machine(1024, 16);
    for (int i = 0; i < 100; ++i)
      machine.fill(repeated(5000, 500), inject::kHistoryTicks, inject::kHistoryTime / 50);
    const std::uint64_t before = machine.header().written[0];
    for (int i = 0; i < 150; ++i)
      machine.fill(repeated(6000, 500), inject::kHistoryTicks, 100 * inject::kHistoryTime);
    QVERIFY(machine.header().written[0] - before >= 150 - 16);
  }

  void whereRecordsAreCountedBesidesLooksFollowEachOtherSooner() {
    Machine machine(1024, 4, Machine::Keeps::Both);
    for (int i = 0; i < 100; ++i)
      machine.fill(repeated(5000, 500), inject::kHistoryTicks, inject::kLearningTime);
    QCOMPARE(machine.header().written[0], 97u);  // three more are in the ring
  }

  void whereTimeIsNotKnownTheLeastIsRead() {
    Machine machine(16384);
    for (int i = 0; i < 20; ++i) machine.fill(repeated(5000, machine.room()), inject::kHistoryTicks, 0);
    QCOMPARE(machine.entries(0).size(), 17u);
    for (const HistoryEntry& entry : machine.entries(0)) QVERIFY(entry.sampled > 0 && entry.sampled <= 64);
  }

  void aClockThatGoesBackwardsIsBorne() {
    Machine machine;
    for (int i = 0; i < 10; ++i) machine.fill(repeated(5000, 500), ~std::uint64_t{0} - 1000);
    for (int i = 0; i < 10; ++i) machine.fill(repeated(5000, 500));
    QVERIFY(!machine.entries(0).empty());
    QVERIFY(machine.guardsHold());
  }

  // Each level says the same as the one below it, as far as that still reaches.
  void entriesBecomeCoarserWithAge() {
    Machine machine;
    constexpr int kRounds = 5000;
    for (int i = 0; i < kRounds; ++i) {
      const Word phase = 5000 + 1000 * static_cast<Word>(i / 1000);
      machine.fill(repeated(phase, 900));
    }
    const std::uint64_t looks = machine.header().written[0];
    QCOMPARE(looks, std::uint64_t{kRounds - 3});
    std::uint64_t of = looks;
    for (unsigned level = 0; level < format::kHistoryLevels; ++level, of /= format::kHistoryMerged) {
      QCOMPARE(machine.header().written[level], of);
      const History entries = machine.entries(level);
      QCOMPARE(entries.size(), std::min<std::uint64_t>(of, machine.header().entriesEach));
      std::uint64_t reach = 1;
      for (unsigned i = 0; i < level; ++i) reach *= format::kHistoryMerged;
      for (const HistoryEntry& entry : entries) {
        QVERIFY(addsUp(entry));
        QCOMPARE(std::uint64_t{entry.looked}, reach);
        // Phases in their order, each in the entries that stand for its sub-buffers.
        const Word first = format::dagRecord(5000 + 1000 * static_cast<Word>(entry.firstOrdinal / 1000));
        const Word last = format::dagRecord(5000 + 1000 * static_cast<Word>(entry.lastOrdinal / 1000));
        for (const auto& [record, times] : countsOf(entry)) QVERIFY(record >= first && record <= last);
        QVERIFY(countsOf(entry).contains(first));
      }
    }
    QCOMPARE(machine.entries(3).front().firstOrdinal, 0u);
  }

  void ofTooManyCodesTheMostFrequentAreKept() {
    Machine machine;
    std::vector<Word> records;
    for (Word code = 0; code < 400; ++code) records.push_back(format::dagRecord(10'000 + code));
    for (Word code = 0; code < 50; ++code)
      for (int i = 0; i < 10; ++i) records.push_back(format::dagRecord(20'000 + code));
    for (int i = 0; i < 200; ++i) machine.fill(records, inject::kHistoryTicks, 1000 * kMillisecond);
    for (unsigned level = 0; level < 3; ++level) {
      QVERIFY(!machine.entries(level).empty());
      for (const HistoryEntry& entry : machine.entries(level)) {
        QVERIFY(addsUp(entry));
        const auto counts = countsOf(entry);
        QCOMPARE(counts.size(), format::kHistoryCodes);
        for (const auto& [record, times] : counts) {
          // Never more than there were.
          const std::uint64_t most = record >= format::dagRecord(20'000) ? 10 : 1;
          QVERIFY(times <= most * entry.looked);
        }
        for (Word code = 0; code < 50; ++code)
          QCOMPARE(counts.at(format::dagRecord(20'000 + code)), 10u * entry.looked);
      }
    }
  }

  void theHistoryOfAnotherThreadIsForgotten() {
    Machine machine;
    for (int i = 0; i < 100; ++i) machine.fill(repeated(5000, 500));
    inject::startHistory(machine.header(), kSize, 0);
    for (unsigned level = 0; level < format::kHistoryLevels; ++level) QVERIFY(machine.entries(level).empty());
    machine.fill(repeated(6000, 500));
    QCOMPARE(machine.entries(0).size(), 1u);
  }

  // A program may take the memory away and have other memory there: nothing outside is touched, and it ends.
  void foreignBytesDoNoHarm() {
    for (const int foreign : {0xFF, 0x00, 0x7F, 0x80}) {
      Machine machine;
      for (int i = 0; i < 100; ++i) machine.fill(repeated(5000, 500));
      std::memset(machine.bytes(), foreign, kSize);
      for (int i = 0; i < 100; ++i) machine.fill(repeated(6000, 500));
      QVERIFY(machine.guardsHold());
    }
  }

  void whatCountsEverythingMissesNothingThatIsOverwritten() {
    Machine machine(1024, 4, Machine::Keeps::Counts);
    std::map<Word, std::uint64_t> written;
    constexpr int kRounds = 50;
    for (int i = 0; i < kRounds; ++i) {
      std::vector<Word> records = repeated(5000, 100);
      for (Word code = 0; code < 100; ++code) records.push_back(format::dagRecord(10'000 + 100 * i + code));
      machine.fill(records, 1, 1);
      if (i < kRounds - 3)  // the last three are in the ring still
        for (const Word record : records) ++written[record];
    }
    QCOMPARE(machine.header().levels, 0u);
    const auto counts = machine.counts();
    std::uint64_t found = machine.header().countOthers, all = 0;
    for (const auto& [record, times] : counts) {
      QCOMPARE(times, written.at(record));
      found += times;
    }
    for (const auto& [record, times] : written) all += times;
    QCOMPARE(found, all);
    QVERIFY2(machine.header().countOthers < 50, "4,701 records share 8,192 slots");
    QVERIFY(machine.guardsHold());
  }

  void whatIsLearnedIsAFairPartBesideTheSamples() {
    Machine samples(4096), both(4096, 4, Machine::Keeps::Both);
    constexpr int kRounds = 400;
    for (int i = 0; i < kRounds; ++i) {
      std::vector<Word> records;
      for (Word place = 0; place < 4000; ++place)
        records.push_back(format::dagRecord(place % 4 == 0 ? 20'000 + place : 5000));
      for (Machine* machine : {&samples, &both}) machine->fill(records);
    }
    QCOMPARE(both.entries(0).size(), samples.entries(0).size());
    for (const HistoryEntry& entry : both.entries(0)) QVERIFY(addsUp(entry));
    const auto counts = both.counts();
    std::uint64_t found = both.header().countOthers;
    for (const auto& [record, times] : counts) found += times;
    QCOMPARE(found, both.counted);
    QVERIFY2(found > kRounds * 1500u && found < kRounds * 2100u, "half of each that is overwritten");
    const std::uint64_t often = counts.at(format::dagRecord(5000));
    QVERIFY(often > found * 7 / 10 && often < found * 8 / 10);
    QVERIFY2(counts.size() == 1001, "each of those that are rare was met in one of the looks");
    QVERIFY(both.guardsHold() && samples.counted == 0);
  }

  void anotherThreadsCountsAreForgotten() {
    Machine machine(1024, 4, Machine::Keeps::Both);
    for (int i = 0; i < 50; ++i) machine.fill(repeated(5000, 500));
    QVERIFY(!machine.counts().empty());
    inject::startHistory(machine.header(), kSize, 0);
    inject::startLearning(machine.header(), kSize, false);
    QVERIFY(machine.counts().empty());
    QVERIFY(machine.guardsHold());
  }

  // It is not to take milliseconds.
  void ofALargeRingNoMoreIsCountedAtOnce() {
    Machine machine(1 << 20, 4, Machine::Keeps::Both);
    for (int i = 0; i < 8; ++i) machine.fill(repeated(5000, machine.room()));
    QVERIFY(machine.counted > 0 && machine.counted <= 5 * 8192);
  }

  void theSizeIsTheUsers() {
    TracedRun traced;
    traced.setVariable("TRACEBACK_HISTORY", "256K");
    traced.run({"count", "10"});
    const auto ring = ringBytes(traced.processFolders().at(0));
    QCOMPARE(historyIn(ring).size(), 256u << 10);
  }

  void turnedOffItLeavesNothing() {
    for (const bool byPolicy : {false, true}) {
      TracedRun traced;
      QTemporaryDir folder;
      if (byPolicy) {
        QFile policy(folder.filePath("policy"));
        QVERIFY(policy.open(QIODevice::WriteOnly) && policy.write("history off\n") > 0);
        policy.close();
        traced.setVariable("TRACEBACK_POLICY", policy.fileName());
      } else {
        traced.setVariable("TRACEBACK_HISTORY", "off");
      }
      traced.run({"count", "5000000"});
      const auto ring = ringBytes(traced.processFolders().at(0));
      format::RingHeader header;
      QVERIFY(ring.size() > sizeof header);
      std::memcpy(&header, ring.data(), sizeof header);
      QCOMPARE(header.historyOffset, 0u);
      QCOMPARE(header.historySize, 0u);
      const auto& last = header.segments[format::kMaxSegments - 1];
      QCOMPARE(ring.size(), last.fileOffset + format::extentOf(last) * sizeof(Word));
    }
  }

  void aKilledProcessLeavesWholeEntries() {
    constexpr Word kCount = 0x0010'0000;
    for (int round = 0; round < 10; ++round) {
      TracedRun traced;
      traced.setVariable("TRACEBACK_BUFFER_SIZE", "64K");
      QTemporaryDir folder;
      QFile file(folder.filePath("counters"));
      QVERIFY(file.open(QIODevice::ReadWrite) && file.resize(4096));
      auto process = traced.start({"forever", file.fileName(), "1"});
      const auto* words = reinterpret_cast<const volatile std::uint64_t*>(file.map(0, 4096));
      QVERIFY(QTest::qWaitFor([&] { return words[1] > 20'000'000; }, 60'000));
      QTest::qSleep(1 + (round * 7) % 13);
      process->kill();
      process->waitForFinished();
      const std::uint64_t counted = words[1];
      const auto bytes = historyIn(ringBytes(traced.processFolders().at(0)));
      QCOMPARE(bytes.size(), kSize);
      const History entries = entriesOf(bytes.data(), 0);
      QVERIFY(!entries.empty());
      std::map<Word, std::uint64_t> sums;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        QVERIFY(addsUp(entries[i]));
        if (i != 0) QCOMPARE(entries[i].firstOrdinal, entries[i - 1].lastOrdinal + 1);
        for (const auto& [record, times] : countsOf(entries[i])) sums[format::codeOf(record)] += times;
      }
      for (const auto& [code, times] : sums) {
        QVERIFY(code >= kCount && code < kCount + 1024);
        QVERIFY(times <= counted / 1024 + 1);
      }
    }
  }

  void eachThreadHasItsOwn() {
    TracedRun traced;
    traced.run({"threads", "4"});
    int rings = 0;
    for (const auto& file : std::filesystem::directory_iterator(traced.processFolders().at(0))) {
      if (file.path().extension() != ".ring") continue;
      ++rings;
      QCOMPARE(historyIn(readBytes(file.path())).size(), kSize);
    }
    QVERIFY(rings >= 4);
  }
};

QTEST_GUILESS_MAIN(HistoryTest)
#include "history_test.moc"
