#include "tests/builders/trace_text.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "model/demangle.h"

namespace traceback::tests {

using namespace model;

namespace {

struct Word {
  std::string_view name;
  std::uint32_t value;
};
constexpr Word kFlags[] = {{"fault", kEntryFault},
                           {"inlined", kEntryInlined},
                           {"untraced", kEntryUntracedCall},
                           {"handler", kEntryInHandler},
                           {"tail", kEntryTailCall},
                           {"partial", kEntryPartial},
                           {"interrupted", kEntryInterrupted},
                           {"catch", kEntryCatch},
                           {"across", kEntryAcrossReading},
                           {"resumed", kEntryResumed}};
constexpr Word kGaps[] = {{"overwritten", static_cast<std::uint32_t>(GapCause::Overwritten)},
                          {"damaged", static_cast<std::uint32_t>(GapCause::Damaged)},
                          {"missing-map", static_cast<std::uint32_t>(GapCause::MissingMap)},
                          {"path-unknown", static_cast<std::uint32_t>(GapCause::PathUnknown)},
                          {"not-read", static_cast<std::uint32_t>(GapCause::NotRead)}};

const Word* find(std::span<const Word> words, std::string_view name) {
  const auto found = std::ranges::find(words, name, &Word::name);
  return found == words.end() ? nullptr : &*found;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0 || separator == '\n') parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

class Reader {
 public:
  explicit Reader(std::size_t chunkSize) : m_chunkSize(chunkSize) {
    m_trace->modules.push_back({.path = "/usr/bin/prog",
                                .name = "prog",
                                .buildId = "0123456789abcdef",
                                .bias = {},
                                .start = {0x1000},
                                .end = {0x1000'0000},
                                .hasMap = true,
                                .hasLines = true});
    m_trace->summary.program = "prog";
    m_trace->summary.pid = 100;
    m_trace->summary.reason = TraceReason::Fault;
    m_info.tid = 1;
    m_info.name = "main";
  }

  std::shared_ptr<Trace> read(std::string_view text) {
    for (std::string_view line : split(text, '\n')) {
      ++m_lineNumber;
      line = line.substr(0, line.find('#'));
      const std::size_t indent = line.find_first_not_of(' ');
      if (indent == std::string_view::npos) continue;
      statement(indent, split(line, ' '));
    }
    finishThread();
    if (m_trace->threads.empty()) wrong("there is no thread");
    return m_trace;
  }

 private:
  struct Open {
    std::size_t indent;
    Entry call;
  };

  [[noreturn]] void wrong(const char* why) const {
    std::fprintf(stderr, "trace text, line %d: %s\n", m_lineNumber, why);
    std::abort();
  }

  void statement(std::size_t indent, std::vector<std::string_view> words) {
    while (!m_open.empty() && m_open.back().indent >= indent) {
      if (words[0] == "thread") {
        m_open.pop_back();  // open at the end: not returned
      } else {
        leave();
      }
    }
    std::uint64_t value = 0;
    if (words[0] == "thread") {
      startThread(words);
    } else if (words[0] == "call" || words[0] == "in") {
      enter(indent, words);
    } else if (words[0] == "end") {
      if (words.size() != 1) wrong("'end' stands alone");
    } else if (words[0] == "time") {
      if (words.size() != 2 || !number(words[1], value)) wrong("'time' needs a number");
      m_time = Ticks{value};
    } else if (words[0] == "began" || words[0] == "until" || words[0] == "ended") {
      if (words.size() != 2 || !number(words[1], value)) wrong("a limit needs a number");
      (words[0] == "began" ? m_began : m_until) = Ticks{value};
      m_info.ended = words[0] == "ended";
    } else {
      happen(words);
    }
  }

  void startThread(const std::vector<std::string_view>& words) {
    std::uint64_t tid = 0;
    if (words.size() != 3 || !number(words[1], tid)) wrong("'thread' needs a number and a name");
    if (m_started || !m_entries.empty()) finishThread();
    m_started = true;
    m_info.tid = static_cast<std::uint32_t>(tid);
    m_info.name = words[2];
  }

  void finishThread() {
    if (m_entries.empty() && !m_started) return;
    m_info.recordCount = m_entries.size();
    m_trace->threads.push_back(threadOf(std::move(m_entries), m_chunkSize, m_info, m_began, m_until));
    m_entries.clear();
    m_open.clear();
    m_info = {};
    m_time = {};
    m_began = m_until = {};
  }

  void enter(std::size_t indent, const std::vector<std::string_view>& words) {
    if (words.size() < 2) wrong("a call needs a function");
    std::size_t at = 2;
    Entry call;
    call.kind = EntryKind::Call;
    call.file = m_open.empty() ? FileId{} : m_open.back().call.file;
    if (at < words.size() && words[at] != "from" && !find(kFlags, words[at])) call.file = fileId(words[at++]);
    std::uint64_t site = 0;
    if (at + 1 < words.size() && words[at] == "from") {
      if (m_open.empty() || !number(words[at + 1], site)) wrong("'from' needs a line of a call around it");
      at += 2;
    }
    call.flags = flags(words, at);
    call.depth = static_cast<std::int32_t>(m_open.size());
    call.module = ModuleId{0};
    call.function = functionId(words[1], call.file);
    call.address = call.last = m_trace->functions[call.function.value].start;
    call.time = m_time;
    m_open.push_back({indent, call});
    if (words[0] == "call") {
      if (site != 0) {
        const Entry& around = m_open[m_open.size() - 2].call;
        call.file = around.file;
        call.line = static_cast<std::uint32_t>(site);
        call.address = call.last = {around.address.value + 4 * site};
      }
      call.flags &= static_cast<std::uint16_t>(~kEntryInterrupted);
      m_entries.push_back(call);
    }
  }

  void leave() {
    Entry left = m_open.back().call;
    m_open.pop_back();
    left.kind = EntryKind::Return;
    left.flags &= kEntryInlined | kEntryInHandler | kEntryInterrupted;
    left.time = m_time;
    m_entries.push_back(left);
  }

  void happen(const std::vector<std::string_view>& words) {
    Entry entry;
    entry.depth = m_open.empty() ? 0 : static_cast<std::int32_t>(m_open.size()) - 1;
    entry.module = ModuleId{0};
    entry.time = m_time;
    if (!m_open.empty()) {
      const Entry& call = m_open.back().call;
      entry.function = call.function;
      entry.file = call.file;
      entry.flags = call.flags & (kEntryInlined | kEntryInHandler);
    }
    std::size_t at = 1;
    std::uint64_t value = 0, count = 1;
    if (number(words[0], value)) {
      entry.line = static_cast<std::uint32_t>(value);
      if (value == 0) entry.file = {};
      if (at < words.size() && words[at][0] == 'x' && number(words[at].substr(1), count)) ++at;
      const VirtAddr start =
          entry.function.valid() ? m_trace->functions[entry.function.value].start : VirtAddr{0x100'0000};
      entry.address = {start.value + 4 * value};
      entry.last = {entry.address.value + 3};
    } else if (words[0] == "signal") {
      entry.kind = EntryKind::Signal;
      if (at >= words.size() || !number(words[at], value)) wrong("'signal' needs a number");
      ++at;
      entry.detail = static_cast<std::uint32_t>(value);
    } else if (words[0] == "exception") {
      entry.kind = EntryKind::Exception;
      if (at < words.size()) {
        auto& types = m_trace->exceptionTypes;
        const auto found = std::ranges::find(types, words[at]);
        entry.detail = static_cast<std::uint32_t>(found - types.begin()) + 1;
        if (found == types.end()) types.emplace_back(words[at]);
        ++at;
      }
    } else if (words[0] == "sync") {
      entry.kind = EntryKind::Sync;
      if (at < words.size() && number(words[at], value))
        entry.detail = static_cast<std::uint32_t>(value), ++at;
    } else if (words[0] == "gap") {
      entry.kind = EntryKind::Gap;
      const Word* cause = at < words.size() ? find(kGaps, words[at]) : nullptr;
      if (cause) entry.detail = cause->value, ++at;
    } else {
      wrong("this is no statement");
    }
    entry.flags |= flags(words, at);
    if (entry.flags & kEntryFault) {
      m_info.atFault = true;
      m_info.fault = m_entries.size() + count - 1;
    }
    m_entries.insert(m_entries.end(), count, entry);
  }

  std::uint16_t flags(const std::vector<std::string_view>& words, std::size_t from) const {
    std::uint32_t value = 0;
    for (; from < words.size(); ++from) {
      const Word* flag = find(kFlags, words[from]);
      if (!flag) wrong("a word is no flag");
      value |= flag->value;
    }
    return static_cast<std::uint16_t>(value);
  }

  FunctionId functionId(std::string_view name, FileId file) {
    auto& functions = m_trace->functions;
    const auto found = std::ranges::find(functions, name, &Function::mangledName);
    if (found != functions.end()) return {static_cast<std::uint32_t>(found - functions.begin())};
    functions.push_back({.module = ModuleId{0},
                         .name = demangle(name),
                         .mangledName = std::string(name),
                         .start = {0x1000 * (functions.size() + 1)},
                         .size = 0x1000,
                         .file = file,
                         .line = 1});
    return {static_cast<std::uint32_t>(functions.size() - 1)};
  }

  FileId fileId(std::string_view name) {
    const std::string path = name.starts_with('/') ? std::string(name) : "/src/" + std::string(name);
    auto& files = m_trace->files;
    const auto found = std::ranges::find(files, path, &SourceFile::path);
    if (found != files.end()) return {static_cast<std::uint32_t>(found - files.begin())};
    files.push_back({path});
    return {static_cast<std::uint32_t>(files.size() - 1)};
  }

  std::size_t m_chunkSize;
  std::shared_ptr<Trace> m_trace = std::make_shared<Trace>();
  ThreadTrace::Info m_info;
  bool m_started = false;
  std::vector<Entry> m_entries;
  std::vector<Open> m_open;
  Ticks m_time;
  std::optional<Ticks> m_began, m_until;
  int m_lineNumber = 0;
};

}  // namespace

MemoryEntrySource::MemoryEntrySource(std::vector<Entry> entries, std::size_t chunkSize)
    : m_entries(std::move(entries)), m_chunkSize(std::max<std::size_t>(chunkSize, 1)) {}

std::size_t MemoryEntrySource::chunkCount() const {
  return (m_entries.size() + m_chunkSize - 1) / m_chunkSize;
}

ExpandedChunk MemoryEntrySource::expand(std::size_t chunk) const {
  const auto begin = m_entries.begin() + static_cast<std::ptrdiff_t>(chunk * m_chunkSize);
  const auto size = std::min(m_chunkSize, m_entries.size() - chunk * m_chunkSize);
  return {.entries = {begin, begin + static_cast<std::ptrdiff_t>(size)}};
}

std::vector<ChunkSummary> MemoryEntrySource::summaries() const {
  std::vector<ChunkSummary> all;
  for (std::size_t chunk = 0; chunk < chunkCount(); ++chunk) {
    all.push_back(summarise(chunk * m_chunkSize, expand(chunk).entries));
  }
  return all;
}

std::unique_ptr<const ThreadTrace> threadOf(std::vector<Entry> entries, std::size_t chunkSize,
                                            ThreadTrace::Info info, std::optional<Ticks> began,
                                            std::optional<Ticks> until) {
  ThreadTimes times;
  times.add(0, entries);
  times.setLimits(began, until);
  auto source = std::make_shared<const MemoryEntrySource>(std::move(entries), chunkSize);
  auto summaries = source->summaries();
  return std::make_unique<const ThreadTrace>(std::move(info), std::move(source), std::move(summaries),
                                             nullptr, std::move(times));
}

std::shared_ptr<Trace> traceOf(std::string_view text, std::size_t chunkSize) {
  return Reader(chunkSize).read(text);
}

EntryIndex lineAt(const ThreadTrace& thread, std::uint32_t line, int nth) {
  for (EntryIndex at = 0; at < thread.entryCount(); ++at) {
    const Entry entry = thread.entry(at);
    if (entry.kind == EntryKind::Line && entry.line == line && --nth == 0) return at;
  }
  return thread.entryCount();
}

EntryIndex callAt(const Trace& trace, const ThreadTrace& thread, std::string_view function, int nth) {
  for (EntryIndex at = 0; at < thread.entryCount(); ++at) {
    const Entry entry = thread.entry(at);
    const Function* named = entry.kind == EntryKind::Call ? trace.function(entry.function) : nullptr;
    if (named && named->name == function && --nth == 0) return at;
  }
  return thread.entryCount();
}

}  // namespace traceback::tests
