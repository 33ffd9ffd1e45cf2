#include "runtime/collect/snap/snap_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <format>

namespace traceback::collect {

namespace {

constexpr int kLevel = 4;  // rings are large and the process may be waiting

std::uint32_t crcOf(std::span<const std::uint8_t> bytes) {
  return static_cast<std::uint32_t>(crc32_z(crc32_z(0, nullptr, 0), bytes.data(), bytes.size()));
}

// Empty if deflating fails or does not help.
Bytes deflated(std::span<const std::uint8_t> bytes) {
  uLongf size = compressBound(bytes.size());
  Bytes out(size);
  if (compress2(out.data(), &size, bytes.data(), bytes.size(), kLevel) != Z_OK || size >= bytes.size())
    return {};
  out.resize(size);
  return out;
}

template <typename T>
std::span<const std::uint8_t> bytesOf(const T& value) {
  return {reinterpret_cast<const std::uint8_t*>(&value), sizeof value};
}

}  // namespace

SnapWriter::SnapWriter(std::filesystem::path folder, std::string baseName)
    : m_folder(std::move(folder)), m_baseName(std::move(baseName)) {}

SnapWriter::SnapWriter(SnapWriter&& other) noexcept = default;

SnapWriter::~SnapWriter() {
  if (m_file.isOpen()) ::unlink(m_partial.c_str());
}

model::Result<SnapWriter> SnapWriter::create(const std::filesystem::path& folder, std::string baseName) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return model::fail("cannot be made: " + error.message(), folder.string());
  SnapWriter writer(folder, std::move(baseName));
  writer.m_partial = folder / std::format(".{}{}{}", writer.m_baseName, kPartialMark, ::getpid());
  writer.m_file =
      SystemFile(::open(writer.m_partial.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!writer.m_file.isOpen()) return failWithErrno("no file can be made there", folder);
  return writer;
}

model::Result<void> SnapWriter::write(std::span<const std::uint8_t> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(m_file.descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return failWithErrno("the snap cannot be written", m_folder);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return {};
}

model::Result<void> SnapWriter::add(format::SectionType type, std::uint32_t index,
                                    std::span<const std::uint8_t> bytes) {
  format::SectionEntry entry{};
  entry.type = static_cast<std::uint32_t>(type);
  entry.index = index;
  entry.offset = m_size;
  entry.size = bytes.size();
  const auto written =
      bytes.size() > format::kSnapBlockSize ? addBlocks(entry, bytes) : addWhole(entry, bytes);
  if (!written) return written;
  entry.storedSize = m_size - entry.offset;
  m_sections.push_back(entry);
  return {};
}

model::Result<void> SnapWriter::addWhole(format::SectionEntry& entry, std::span<const std::uint8_t> bytes) {
  const Bytes smaller = deflated(bytes);
  const auto stored = smaller.empty() ? bytes : std::span<const std::uint8_t>(smaller);
  if (!smaller.empty()) entry.flags = format::kSectionDeflated;
  entry.crc = crcOf(stored);
  return append(stored);
}

model::Result<void> SnapWriter::addBlocks(format::SectionEntry& entry, std::span<const std::uint8_t> bytes) {
  std::vector<format::SnapBlock> table((bytes.size() + format::kSnapBlockSize - 1) / format::kSnapBlockSize);
  const auto tableBytes = [&] {
    return std::span(reinterpret_cast<const std::uint8_t*>(table.data()), table.size() * sizeof table[0]);
  };
  const auto tableAt = m_size;
  if (auto written = append(tableBytes()); !written)
    return written;  // its place; what it says is known later
  for (auto& block : table) {
    const auto part = bytes.first(std::min<std::size_t>(bytes.size(), format::kSnapBlockSize));
    bytes = bytes.subspan(part.size());
    const Bytes smaller = deflated(part);
    const auto stored = smaller.empty() ? part : std::span<const std::uint8_t>(smaller);
    block = {.storedSize = static_cast<std::uint32_t>(stored.size()), .crc = crcOf(stored)};
    if (auto written = append(stored); !written) return written;
  }
  entry.flags = format::kSectionInBlocks;
  entry.crc = crcOf(tableBytes());
  return write(tableBytes(), tableAt);
}

model::Result<void> SnapWriter::append(std::span<const std::uint8_t> bytes) {
  if (auto written = write(bytes, m_size); !written) return written;
  m_size += bytes.size();
  return {};
}

model::Result<std::filesystem::path> SnapWriter::finish() {
  const std::span<const std::uint8_t> table(reinterpret_cast<const std::uint8_t*>(m_sections.data()),
                                            m_sections.size() * sizeof(format::SectionEntry));
  format::SnapHeader header{};
  header.magic = format::kSnapMagic;
  header.version = format::kSnapVersion;
  header.revision = format::kSnapRevision;
  header.headerSize = sizeof header;
  header.sectionCount = static_cast<std::uint32_t>(m_sections.size());
  header.sectionEntrySize = sizeof(format::SectionEntry);
  header.tableOffset = m_size;
  header.tableCrc = crcOf(table);
  if (auto written = write(table, m_size); !written) return std::unexpected(written.error());
  if (auto written = write(bytesOf(header), 0); !written) return std::unexpected(written.error());
  // Some file systems say only here that they are full.
  if (::fsync(m_file.descriptor()) != 0 && errno != EINVAL)
    return failWithErrno("the snap cannot be written", m_folder);

  for (unsigned attempt = 1; attempt < 1000; ++attempt) {
    auto path =
        m_folder / (m_baseName + (attempt == 1 ? "" : std::format("-{}", attempt)) + format::kSnapSuffix);
    // A link never replaces a file that is there; where there are no links, a rename must do.
    if (::link(m_partial.c_str(), path.c_str()) == 0) {
      ::unlink(m_partial.c_str());
    } else if (errno == EEXIST) {
      continue;
    } else if (::access(path.c_str(), F_OK) == 0) {
      continue;
    } else if (::rename(m_partial.c_str(), path.c_str()) != 0) {
      return failWithErrno("the snap cannot be given its name", path);
    }
    ::close(m_file.release());
    return path;
  }
  return model::fail("every name for the snap is taken", (m_folder / m_baseName).string());
}

}  // namespace traceback::collect
