#include "model/load_report.h"

#include <algorithm>
#include <utility>

namespace traceback::model {

void LoadReport::add(Severity severity, std::string text, std::uint64_t count) {
  const auto same = std::ranges::find_if(
      m_notes, [&](const LoadNote& note) { return note.severity == severity && note.text == text; });
  if (same != m_notes.end()) {
    same->count += count;
  } else {
    m_notes.push_back({severity, std::move(text), count});
  }
}

}  // namespace traceback::model
