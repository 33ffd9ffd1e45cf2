// A whole snap: sections, maps, rings, reconstruction, all entries of all threads, and the core file of it.
// Once as it is, and once with its checksums made right, for else a change would never get behind them.
#include <zlib.h>

#include <cstring>
#include <vector>

#include "loader/core/core_file.h"
#include "loader/load_trace.h"
#include "loader/snap/snap_reader.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using traceback::loader::Bytes;

std::uint64_t load(Bytes bytes) {
  traceback::loader::LoadOptions options;
  options.useLocalMaps = false;
  options.useDebugInformation = false;
  const auto loaded = traceback::loader::loadSnapBytes({bytes.begin(), bytes.end()}, "fuzz", options);
  if (!loaded) return 0;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < loaded->trace->threads.size(); ++i) {
    const auto& thread = *loaded->trace->threads[i];
    for (const auto& entry : thread.entries(0, thread.entryCount())) sum += entry.address.value;
    sum += loaded->executedBlocks(i).size();
  }
  auto snap = traceback::loader::SnapReader::open(
      std::make_shared<const traceback::loader::MemoryBytes>(bytes), "fuzz");
  if (!snap) return sum;
  const auto process = traceback::loader::readRecordedProcess(std::move(*snap), options);
  const bool written = traceback::loader::writeCore(process, [&sum](Bytes part) {
                         sum += part.size();
                         return true;
                       }).has_value();
  return written ? sum : 0;
}

std::uint32_t crcOf(Bytes bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::vector<std::byte> withRightChecksums(Bytes bytes) {
  using namespace traceback;
  std::vector<std::byte> result(bytes.begin(), bytes.end());
  auto header = loader::readAt<format::SnapHeader>(bytes, 0);
  if (!header || header->sectionEntrySize < sizeof(format::SectionEntry)) return result;
  const auto table =
      loader::sliceOf(bytes, header->tableOffset, header->sectionCount, header->sectionEntrySize);
  if (!table) return result;
  const auto tableAt = static_cast<std::size_t>(header->tableOffset);
  for (std::size_t i = 0; i < header->sectionCount; ++i) {
    const auto at = tableAt + i * header->sectionEntrySize;
    auto entry = *loader::readAt<format::SectionEntry>(result, at);
    if (const auto stored = loader::slice(result, entry.offset, entry.storedSize)) entry.crc = crcOf(*stored);
    std::memcpy(result.data() + at, &entry, sizeof entry);
  }
  header->tableCrc = crcOf(Bytes(result).subspan(tableAt, table->size()));
  std::memcpy(result.data(), &*header, sizeof *header);
  return result;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = traceback::tests::bytesOf(data, size);
  return load(bytes) + load(withRightChecksums(bytes)) == 1 ? 1 : 0;
}
