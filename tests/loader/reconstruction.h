// Runs the loader on a process in text (tests/builders) and gives the thread's trace as text.
#pragma once

#include <QTest>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "loader/load_trace.h"
#include "tests/builders/entry_text.h"
#include "tests/builders/snap_builder.h"

namespace traceback::tests {

// main calls f at 2000 in a loop; f has two ways through it.
inline constexpr std::string_view kLoop = R"(
  function main 1000
  dag
  a 8 fall h
  dag
  h 4 branch c r loop
  c 4 call 2000 d bit=0
  r 4 return bit=1
  dag
  d 4 jump h returnpoint
  function f 2000
  dag
  a 8 branch y x
  x 8 fall y bit=0
  y 4 return bit=1
)";

struct Scenario {
  std::string_view map;
  std::optional<std::uint64_t> otherFault = {};  // when another thread met a fatal signal
  std::string_view ring;
  RingText::Options options = {};
  std::uint32_t signal = 0;
  std::string_view pc = {};  // of the thread at the end, in the map's terms; empty: not known
  bool withMap = true;
  loader::LineSourceFactory lines = {};
  std::vector<std::pair<std::uint64_t, std::string>> thrown = {};  // as ProcessText has it
  format::BindState bindState = format::BindState::Bound;
};

struct Outcome {
  loader::LoadedSnap snap;
  std::string text;
  const model::Trace& trace() const { return *snap.trace; }
  const model::ThreadTrace& thread() const { return *snap.trace->threads.front(); }
  std::string notes() const {
    std::string all;
    for (const auto& note : snap.trace->report.notes())
      all += note.text + " x" + std::to_string(note.count) + "\n";
    return all;
  }
};

inline Outcome reconstruct(const Scenario& scenario) {
  const MapText map(scenario.map);
  const RingText ring(scenario.ring, map, scenario.options);
  ProcessText process{.map = &map, .ring = &ring, .options = scenario.options};
  process.withMap = scenario.withMap;
  process.bindState = scenario.bindState;
  process.otherFault = scenario.otherFault;
  process.signal = scenario.signal;
  process.thrown = scenario.thrown;
  process.signalCode = scenario.signal == 0 ? 0 : 1;
  process.reason = scenario.signal == 0 ? format::SnapReason::UserRequest : format::SnapReason::Fault;
  if (!scenario.pc.empty()) process.pc = scenario.pc == "outside" ? 0x10 : ring.pcOf(scenario.pc);
  const auto bytes = process.snap().bytes();
  loader::LoadOptions options;
  options.useLocalMaps = false;
  options.useDebugInformation = static_cast<bool>(scenario.lines);
  options.lineSources = scenario.lines;
  auto loaded = loader::loadSnapBytes(bytes, "test.tbsnap", options);
  Outcome outcome;
  if (!loaded) {
    outcome.text = "error: " + loaded.error().text();
    return outcome;
  }
  outcome.snap = std::move(*loaded);
  outcome.text = threadText(outcome.trace(), outcome.thread());
  return outcome;
}

// Knows nothing but where stubs lead.
class Stubs : public loader::LineSource {
 public:
  explicit Stubs(std::map<std::uint64_t, std::string> names) : m_names(std::move(names)) {}
  bool hasLines() const override { return false; }
  std::vector<loader::LineRange> rangesIn(model::VirtAddr, model::VirtAddr) const override { return {}; }
  std::optional<loader::FunctionInfo> functionAt(model::VirtAddr) const override { return {}; }
  std::string_view stubAt(model::VirtAddr address) const override {
    const auto found = m_names.find(address.value);
    return found != m_names.end() ? std::string_view(found->second) : std::string_view();
  }

 private:
  std::map<std::uint64_t, std::string> m_names;
};

// Line sources that know stubs alone, by address.
inline loader::LineSourceFactory stubs(std::map<std::uint64_t, std::string> names) {
  return [names = std::move(names)](const loader::ModuleFiles&, std::string&) {
    return std::make_unique<Stubs>(names);
  };
}

// Compares as text, so that a failure shows both traces.
inline void compare(const std::string& actual, const char* expected) {
  const auto wanted = trimmed(expected, 4);
  if (actual != wanted) qWarning("expected:\n%s\ngot:\n%s", wanted.c_str(), actual.c_str());
  QVERIFY(actual == wanted);
}

}  // namespace traceback::tests
