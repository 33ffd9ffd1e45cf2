// Snaps for tests: sections put together, and whole snaps of one process with one module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/format/process.h"
#include "runtime/format/snap.h"
#include "tests/builders/ring_text.h"

namespace traceback::tests {

class SnapBuilder {
 public:
  SnapBuilder& add(format::SectionType type, std::span<const std::byte> bytes, std::uint32_t index = 0,
                   bool deflate = true);
  // The same, in blocks.
  SnapBuilder& addBlocks(format::SectionType type, std::span<const std::byte> bytes, std::uint32_t index = 0);
  template <typename T>
  SnapBuilder& addObject(format::SectionType type, const T& object, bool deflate = true) {
    return add(type, std::as_bytes(std::span(&object, 1)), 0, deflate);
  }
  SnapBuilder& setRevision(std::uint32_t revision) {
    m_revision = revision;
    return *this;
  }
  std::vector<std::byte> bytes() const;
  // The section table's entries, to be damaged by tests; bytes() makes the table's CRC right again.
  std::vector<format::SectionEntry>& entries() { return m_entries; }

 private:
  std::uint32_t m_revision = format::kSnapRevision;
  std::vector<format::SectionEntry> m_entries;
  std::vector<std::byte> m_body;
};

// A process with the module "/src/prog" (map_text.h) and one thread (ring_text.h).
struct ProcessText {
  const MapText* map = nullptr;
  const RingText* ring = nullptr;
  RingText::Options options = {};
  format::SnapReason reason = format::SnapReason::Recovered;
  std::uint32_t signal = 0;
  std::uint32_t signalCode = 0;
  std::optional<std::uint64_t> otherFault = {};  // when a thread that has no ring met a fatal signal
  std::optional<std::uint64_t> pc = {};  // of the thread, at the snap or the fault
  std::vector<std::pair<std::uint64_t, std::string>> thrown = {};  // time, and what was said
  bool withMap = true;
  bool deflate = true;
  bool ringInBlocks = false;
  format::BindState bindState = format::BindState::Bound;

  SnapBuilder snap() const;
};

}  // namespace traceback::tests
