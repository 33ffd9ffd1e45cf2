#include "runtime/collect/keeping/fault_ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "runtime/format/fnv.h"
#include "runtime/format/mappings.h"
#include "runtime/format/record.h"
#include "runtime/format/ring.h"

namespace traceback::collect {

namespace {

class Hash {
 public:
  void add(std::uint64_t value) {
    for (unsigned i = 0; i < sizeof value; ++i) addByte(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void add(std::string_view text) {
    for (const char c : text) addByte(static_cast<std::uint8_t>(c));
    addByte(0);
  }
  std::uint64_t value() const { return m_value; }

 private:
  void addByte(std::uint8_t byte) { m_value = format::fnvBehind(m_value, byte); }
  std::uint64_t m_value = format::kFnvStart;
};

// The last DAG record of the code that the fault interrupted; 0 if there is none to be seen.
format::Word lastDagOf(const RingFile& ring, const format::RingHeader& header) {
  const unsigned level =
      header.level == 0 ? 0 : header.level - 1;  // the fault's own record is one further up
  if (level >= format::kMaxSegments) return 0;
  const format::SegmentHeader& segment = header.segments[level];
  if (segment.subBufferWords == 0 || segment.subBufferCount == 0 || segment.cursor < segment.base) return 0;
  const std::uint64_t front = format::frontIndex(segment, segment.ordinal);
  const std::uint64_t cursor = format::cursorIndex(segment);
  if (cursor < front || cursor - front >= segment.subBufferWords) return 0;
  for (std::uint64_t at = cursor + 1; at-- > front;) {
    const std::uint64_t offset = segment.fileOffset + at * sizeof(format::Word);
    if (offset > ring.bytes.size() || ring.bytes.size() - offset < sizeof(format::Word)) return 0;
    format::Word word;
    std::memcpy(&word, ring.bytes.data() + offset, sizeof word);
    if (format::isDagRecord(word)) return word;
  }
  return 0;
}

void addPlace(Hash& hash, const ProcessFolder& folder, std::uint64_t pc, const std::string& maps) {
  for (const format::ProcessModule& module : folder.modules) {
    if (pc < module.start || pc >= module.end) continue;
    hash.add(std::string_view(reinterpret_cast<const char*>(module.mapId), sizeof module.mapId));
    hash.add(pc - module.loadBias);
    return;
  }
  for (const format::Mapping& mapping : format::parseMappings(maps)) {
    if (pc < mapping.start || pc >= mapping.end || !mapping.isFile()) continue;
    hash.add(mapping.path);
    hash.add(pc - mapping.start + mapping.offset);
    return;
  }
}

void addRecord(Hash& hash, const ProcessFolder& folder) {
  for (const RingFile& ring : folder.rings) {
    const auto header = ring.header();
    if (!header || header->tid != folder.header.faultTid ||
        header->state != static_cast<std::uint32_t>(format::RingState::InUse))
      continue;
    const format::Word code = format::codeOf(lastDagOf(ring, *header));
    for (const format::ProcessModule& module : folder.modules) {
      if (code < module.codeBase || code - module.codeBase >= module.codeSpan) continue;
      hash.add(std::string_view(reinterpret_cast<const char*>(module.mapId), sizeof module.mapId));
      hash.add(code - module.codeBase);
      return;
    }
  }
}

std::uint64_t secondsNow() {
  struct timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec);
}

// Locked until it goes away; not open if it is nobody's business.
SystemFile openLedger(const std::filesystem::path& snapFolder, int how) {
  SystemFile file(::open((snapFolder / kFaultLedgerName).c_str(),
                         how | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600));
  struct stat status{};
  if (!file.isOpen() || ::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != ::geteuid() || ::flock(file.descriptor(), LOCK_EX) != 0)
    return SystemFile(-1);
  return file;
}

std::vector<FaultEntry> readEntries(const SystemFile& file) {
  std::vector<FaultEntry> entries(kMostFaults);
  std::uint64_t magic = 0;
  if (::pread(file.descriptor(), &magic, sizeof magic, 0) != sizeof magic || magic != kFaultLedgerMagic)
    return {};
  const ssize_t got =
      ::pread(file.descriptor(), entries.data(), entries.size() * sizeof(FaultEntry), sizeof magic);
  entries.resize(got > 0 ? static_cast<std::size_t>(got) / sizeof(FaultEntry) : 0);
  return entries;
}

}  // namespace

std::uint64_t faultKey(const ProcessFolder& folder, const std::string& maps) {
  const format::ProcessHeader& process = folder.header;
  Hash hash;
  const std::string program = textField(process.executable, sizeof process.executable);
  hash.add(!program.empty() || folder.modules.empty()
               ? program
               : textField(folder.modules.front().path, sizeof folder.modules.front().path));
  hash.add(process.faultSignal);
  addPlace(hash, folder, process.faultPc, maps);
  addRecord(hash, folder);
  return hash.value();
}

bool isNewFault(const std::filesystem::path& snapFolder, std::uint64_t key, std::uint64_t count,
                std::uint64_t seconds) {
  const SystemFile file = openLedger(snapFolder, O_RDONLY);
  if (!file.isOpen()) return true;
  const std::uint64_t now = secondsNow();
  // One from the future was noted before the clock was put back, and is none.
  const auto noted = std::ranges::count_if(readEntries(file), [&](const FaultEntry& entry) {
    return entry.key == key && entry.seconds <= now && now - entry.seconds < seconds;
  });
  return static_cast<std::uint64_t>(noted) < count;
}

void noteFault(const std::filesystem::path& snapFolder, std::uint64_t key) {
  const SystemFile file = openLedger(snapFolder, O_RDWR | O_CREAT);
  if (!file.isOpen()) return;
  std::vector<FaultEntry> entries = readEntries(file);
  if (entries.size() == kMostFaults) entries.erase(entries.begin());
  entries.push_back({key, secondsNow()});
  const std::size_t size = entries.size() * sizeof(FaultEntry);
  const bool written = ::pwrite(file.descriptor(), &kFaultLedgerMagic, sizeof kFaultLedgerMagic, 0) ==
                           sizeof kFaultLedgerMagic &&
                       ::pwrite(file.descriptor(), entries.data(), size, sizeof kFaultLedgerMagic) ==
                           static_cast<ssize_t>(size);
  // What is half written would be misread.
  if (::ftruncate(file.descriptor(), written ? static_cast<off_t>(sizeof kFaultLedgerMagic + size) : 0) != 0)
    return;
}

}  // namespace traceback::collect
