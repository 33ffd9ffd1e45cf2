// What was wrong with a snap that opened all the same. The user sees it; nothing is dropped in silence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace traceback::model {

enum class Severity : std::uint8_t { Info, DataLoss, Error };

struct LoadNote {
  Severity severity = Severity::Info;
  std::string text;           // "map of libfoo.so: missing; its records are shown as gaps"
  std::uint64_t count = 1;    // how often

  friend bool operator==(const LoadNote&, const LoadNote&) = default;
};

class LoadReport {
 public:
  // Counts a note that is there already.
  void add(Severity severity, std::string text, std::uint64_t count = 1);
  const std::vector<LoadNote>& notes() const { return m_notes; }
  bool empty() const { return m_notes.empty(); }

 private:
  std::vector<LoadNote> m_notes;
};

}  // namespace traceback::model
