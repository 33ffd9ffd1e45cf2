// Keeping out of a snap what the site's rules keep out of it (Redaction).
//
// Environment and arguments are masked where the kernel put them, on the first thread's stack, and wherever
// else in the kept memory one of the same text lies: byte by byte, with asterisks, so that nobody takes a
// masked text for the program's own. Texts of less than kLeastCopy bytes are masked in their first place
// only. What a program made of them (a decoded key, half of a word) is not known here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/rules/site_rules.h"
#include "runtime/collect/snap/memory_reader.h"
#include "runtime/format/process.h"

namespace traceback::collect {

inline constexpr std::size_t kLeastCopy = 8;

// Masks in memory that was read from a stopped process. `maps` is the text of its /proc/PID/maps.
void redactMemory(pid_t pid, std::uint32_t redaction, const std::string& maps, ProcessMemory& memory);

// The same in what exceptions said, and what was said as the process was aborted. Of one that is gone (no
// `pid`) nobody knows what to mask: nothing stays.
void redactMessages(std::optional<pid_t> pid, std::uint32_t redaction, ProcessFolder& folder);

// Masks each of the texts wherever it lies.
void maskCopies(const std::vector<std::string>& texts, std::vector<MemoryPart>& parts);

// Paths as the snap names them: with kRedactPaths "/redacted/NAME" for those outside of the folders in which
// the system's own files are, else as they are.
class PathRedactor {
 public:
  explicit PathRedactor(std::uint32_t redaction) : m_redacts((redaction & kRedactPaths) != 0) {}

  std::string path(const std::string& path) const;
  // Every path in a text for people.
  std::string text(const std::string& text) const;
  // Lines that end in a path, or hold none, as those of /proc/PID/maps.
  std::string lines(const std::string& lines) const;
  format::ProcessHeader header(format::ProcessHeader header) const;
  std::vector<format::ProcessModule> modules(std::vector<format::ProcessModule> modules) const;
  std::vector<format::ThrownText> thrown(std::vector<format::ThrownText> texts) const;

 private:
  bool m_redacts;
};

// "environment, stacks"; empty if nothing is.
std::string describeRedaction(std::uint32_t redaction);

}  // namespace traceback::collect
