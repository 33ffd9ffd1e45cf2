#include "tests/builders/snap_builder.h"

#include <zlib.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace traceback::tests {

namespace {

std::uint32_t crcOf(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::vector<std::byte> deflated(std::span<const std::byte> bytes) {
  uLongf size = compressBound(bytes.size());
  std::vector<std::byte> out(size);
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
           bytes.size());
  out.resize(size);
  return out;
}

}  // namespace

SnapBuilder& SnapBuilder::addBlocks(format::SectionType type, std::span<const std::byte> bytes,
                                    std::uint32_t index) {
  std::vector<format::SnapBlock> table;
  std::vector<std::byte> blocks;
  for (std::size_t at = 0; at < bytes.size(); at += format::kSnapBlockSize) {
    const auto part = bytes.subspan(at, std::min<std::size_t>(format::kSnapBlockSize, bytes.size() - at));
    auto stored = deflated(part);
    if (stored.size() >= part.size()) stored.assign(part.begin(), part.end());
    table.push_back({.storedSize = static_cast<std::uint32_t>(stored.size()), .crc = crcOf(stored)});
    blocks.insert(blocks.end(), stored.begin(), stored.end());
  }
  const auto front = std::as_bytes(std::span(table));
  m_entries.push_back({.type = static_cast<std::uint32_t>(type),
                       .flags = format::kSectionInBlocks,
                       .index = index,
                       .crc = crcOf(front),
                       .offset = sizeof(format::SnapHeader) + m_body.size(),
                       .storedSize = front.size() + blocks.size(),
                       .size = bytes.size()});
  m_body.insert(m_body.end(), front.begin(), front.end());
  m_body.insert(m_body.end(), blocks.begin(), blocks.end());
  return *this;
}

SnapBuilder& SnapBuilder::add(format::SectionType type, std::span<const std::byte> bytes, std::uint32_t index,
                              bool deflate) {
  auto stored = deflate ? deflated(bytes) : std::vector<std::byte>(bytes.begin(), bytes.end());
  m_entries.push_back({.type = static_cast<std::uint32_t>(type),
                       .flags = deflate ? std::uint32_t{format::kSectionDeflated} : 0,
                       .index = index,
                       .crc = crcOf(stored),
                       .offset = sizeof(format::SnapHeader) + m_body.size(),
                       .storedSize = stored.size(),
                       .size = bytes.size()});
  m_body.insert(m_body.end(), stored.begin(), stored.end());
  return *this;
}

std::vector<std::byte> SnapBuilder::bytes() const {
  const auto table = std::as_bytes(std::span(m_entries));
  format::SnapHeader header{};
  header.magic = format::kSnapMagic;
  header.version = format::kSnapVersion;
  header.revision = m_revision;
  header.headerSize = sizeof header;
  header.sectionCount = static_cast<std::uint32_t>(m_entries.size());
  header.sectionEntrySize = sizeof(format::SectionEntry);
  header.tableOffset = sizeof header + m_body.size();
  header.tableCrc = crcOf(table);
  const auto front = std::as_bytes(std::span(&header, 1));
  std::vector<std::byte> out(front.begin(), front.end());
  out.insert(out.end(), m_body.begin(), m_body.end());
  out.insert(out.end(), table.begin(), table.end());
  return out;
}

SnapBuilder ProcessText::snap() const {
  SnapBuilder snap;
  format::ProcessHeader process{};
  process.magic = format::kProcessMagic;
  process.version = format::kProcessVersion;
  process.headerSize = sizeof process;
  process.pid = 100;
  process.startTsc = 1;
  process.startRealtimeNs = 1'000'000;
  process.moduleCount = 1;
  std::memcpy(process.executable, "prog", 4);
  process.faultSignal = otherFault ? SIGSEGV : signal;
  process.faultTime = otherFault.value_or(0);
  snap.addObject(format::SectionType::Process, process, deflate);

  format::ProcessModule module{};
  module.loadBias = options.bias;
  module.start = options.bias;
  module.end = options.bias + 0x1000000;
  std::memcpy(module.mapId, map->id().data(), 16);
  module.codeBase = options.codeBase;
  module.codeSpan = map->codeSpan();
  module.bindState = static_cast<std::uint32_t>(bindState);
  std::memcpy(module.path, "/cache/prog", 11);
  snap.addObject(format::SectionType::Modules, module, deflate);

  std::vector<format::ThrownText> texts(thrown.size());
  for (std::size_t i = 0; i < thrown.size(); ++i) {
    texts[i].time = thrown[i].first;
    std::ranges::copy(thrown[i].second, texts[i].text);
  }
  if (!texts.empty()) snap.add(format::SectionType::ThrownTexts, std::as_bytes(std::span(texts)), 0, deflate);

  format::SnapReasonData data{};
  data.reason = static_cast<std::uint32_t>(reason);
  data.signal = signal;
  data.signalCode = signalCode;
  data.tid = signal != 0 ? options.tid : 0;
  data.faultPc = signal != 0 ? pc.value_or(0) : 0;
  data.realtimeNs = 5'000'000;
  snap.addObject(format::SectionType::Reason, data, deflate);

  format::SnapThread thread{};
  thread.tid = options.tid;
  thread.flags = format::kThreadHasRing;
  if (signal != 0) thread.flags |= format::kThreadAtFault;
  if (pc) {
    thread.flags |= format::kThreadHasRegisters;
    thread.registers[16] = *pc;  // rip
  }
  std::memcpy(thread.name, "worker", 6);
  snap.addObject(format::SectionType::Threads, thread, deflate);
  if (ringInBlocks) {
    snap.addBlocks(format::SectionType::Ring, ring->bytes());
  } else {
    snap.add(format::SectionType::Ring, ring->bytes(), 0, deflate);
  }
  if (withMap) snap.add(format::SectionType::MapSlice, map->bytes(), 0, deflate);
  const std::string host = "hostname=box\ncommand-line=prog --x\n";
  snap.add(format::SectionType::Host, std::as_bytes(std::span(host.data(), host.size())), 0, false);
  return snap;
}

}  // namespace traceback::tests
