#include "tests/builders/ring_text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>

namespace traceback::tests {

using format::RecordType;
using format::Word;

namespace {

std::vector<Word> wordsOf(RecordType type, std::uint16_t detail, const std::vector<std::uint64_t>& values) {
  const auto count = static_cast<unsigned>(values.size()) * format::kWordsPerValue;
  std::vector<Word> words{format::header(type, count, detail)};
  for (const auto value : values)
    for (unsigned i = 0; i < format::kWordsPerValue; ++i) words.push_back(format::payload(value, i));
  return words;
}

[[noreturn]] void wrong(const std::string& what) {
  std::cerr << "ring text: " << what << '\n';
  std::exit(2);
}

}  // namespace

RingText::RingText(std::string_view text, const MapText& map, const Options& options)
    : m_map(map), m_options(options) {
  for (auto& segment : m_segments) {
    segment.words.assign(stride() * options.subBufferCount, format::kInvalidWord);
    for (std::uint32_t i = 1; hasSentinels() && i <= options.subBufferCount; ++i)
      segment.words[i * stride() - 1] = format::kSentinelWord;
  }
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; parts >> word;) words.push_back(word);
    if (!words.empty()) this->line(words);
  }
}

Word& RingText::current() {
  return m_segments[m_level].words[static_cast<std::size_t>(m_segments[m_level].cursor)];
}

std::uint64_t RingText::position(unsigned level) const {
  const auto& segment = m_segments[level];
  const auto inside = segment.cursor < 0 ? 0 : static_cast<std::uint64_t>(segment.cursor) % stride();
  return segment.ordinal * m_options.subBufferWords + inside;
}

std::uint64_t RingText::wordsLeft() const {
  const auto cursor = m_segments[m_level].cursor;
  const std::uint64_t next = cursor < 0 ? 0 : static_cast<std::uint64_t>(cursor) % stride() + 1;
  return m_options.subBufferWords - (hasSentinels() ? 1 : 0) - next;
}

void RingText::claim() {
  auto& segment = m_segments[m_level];
  if (wordsLeft() != 0) {
    ++segment.cursor;
  } else {
    ++segment.ordinal;
    const auto first = segment.ordinal % m_options.subBufferCount * stride();
    if (m_options.version == 1) {
      std::fill_n(segment.words.begin() + static_cast<std::ptrdiff_t>(first), m_options.subBufferWords - 1,
                  format::kInvalidWord);
    }
    segment.cursor = static_cast<std::int64_t>(first);
    if (m_options.continuesSignals && m_level != 0 && m_begins.size() == m_level) {
      for (const Word word : m_begins.back()) {
        current() = word;
        ++segment.cursor;
      }
    }
  }
}

void RingText::write(Word word) {
  if (!m_claimed) claim();
  m_claimed = false;
  current() = word;
}

void RingText::event(RecordType type, std::uint16_t detail, const std::vector<std::uint64_t>& values) {
  const std::vector<Word> words = wordsOf(type, detail, values);
  // An extended record never goes over the end of a sub-buffer: the runtime ends that one early.
  auto& segment = m_segments[m_level];
  if (const auto left = static_cast<std::ptrdiff_t>(wordsLeft()); left < std::ssize(words)) {
    std::fill_n(segment.words.begin() + segment.cursor + 1, left, format::kInvalidWord);
    segment.cursor += left;
  }
  for (const Word word : words) write(word);
}

void RingText::lightProbes(const std::vector<std::string>& words, std::size_t first) {
  for (auto i = first; i < words.size(); ++i) {
    const bool elsewhere = words[i].find('.') != std::string::npos;
    current() |= m_map.bitOf(elsewhere ? words[i] : m_function + "." + words[i]);
  }
}

void RingText::dag(const std::vector<std::string>& words) {
  m_function = MapText::functionOf(words[0]);
  write(format::dagRecord(m_options.codeBase + m_map.headCode(words[0])));
  lightProbes(words, 1);
}

void RingText::signal(const std::vector<std::string>& words) {
  const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  if (words.size() < 4 || words[2] != "at" || m_level + 1 >= format::kMaxSegments) wrong("signal");
  const auto pc = words[3].starts_with("0x") ? std::stoull(words[3], nullptr, 16) : pcOf(words[3]);
  auto detail = static_cast<std::uint16_t>(std::stoul(words[1]) | (m_level << format::kSignalSegmentShift));
  detail |=
      static_cast<std::uint16_t>(has("fatal") ? int{format::kSignalFatal} : int{format::kSignalHandled});
  const auto record = m_segments[m_level].cursor < 0 ? format::kInvalidWord : current();
  const auto at = position(m_level);
  m_interrupted.push_back(pc);
  m_functions.push_back(m_function);
  ++m_level;
  const bool claimed = m_claimed;
  m_claimed = false;
  const std::vector<std::uint64_t> values{m_time++,
                                          pc,
                                          has("fault") ? 8UL : 0UL,
                                          has("fault") ? 1UL : 0UL,
                                          at,
                                          claimed ? format::kInvalidWord : record,
                                          m_sequence++};
  event(RecordType::SignalBegin, detail, values);
  m_begins.push_back(wordsOf(RecordType::SignalBegin,
                             static_cast<std::uint16_t>(detail | format::kSignalContinued), values));
}

void RingText::line(const std::vector<std::string>& words) {
  const auto& what = words[0];
  if (what == "start") {
    event(RecordType::ThreadStart, 0, {m_time++, m_options.tid});
  } else if (what == "thread-end") {
    event(RecordType::ThreadEnd, 0, {m_time++, m_options.tid});
  } else if (what == "+") {
    lightProbes(words, 1);
  } else if (what == "claim") {
    if (m_options.version != 1) wrong("claim");
    claim();
    m_claimed = true;
  } else if (what == "signal") {
    signal(words);
  } else if (what == "return") {
    const auto pc = words.size() > 2 ? pcOf(words[2]) : m_interrupted.back();
    event(RecordType::SignalEnd, 0, {m_time++, pc});
    m_interrupted.pop_back();
    m_begins.pop_back();
    m_function = m_functions.back();
    m_functions.pop_back();
    --m_level;
    // The claimed word of the interrupted head probe is written next.
    m_claimed =
        m_options.version == 1 && m_segments[m_level].cursor >= 0 && current() == format::kInvalidWord;
  } else if (what == "resume") {
    const auto at = position(m_level);
    const auto from = m_level--;
    m_interrupted.pop_back();
    m_begins.pop_back();
    m_functions.pop_back();
    event(RecordType::Resumption, static_cast<std::uint16_t>(from), {at});
  } else if (what == "exception") {
    const bool again = words.size() > 4 && words[3] == "again";
    std::vector<std::uint64_t> values = {m_time++, pcOf(words[1]), again ? std::stoull(words[4]) : 0};
    const std::string_view type = words.size() > 2 ? words[2] : std::string_view();
    for (std::size_t i = 0; i < type.size(); ++i) {
      if (i % 8 == 0) values.push_back(0);
      values.back() |= std::uint64_t{static_cast<unsigned char>(type[i])} << (i % 8 * 8);
    }
    const auto detail = again ? format::ExceptionDetail::Again : format::ExceptionDetail::Thrown;
    event(RecordType::Exception, static_cast<std::uint16_t>(detail), values);
  } else if (what == "time") {
    m_time = std::stoull(words[1]);
    event(RecordType::Timestamp, 0, {m_time});
  } else if (what == "gap") {
    event(RecordType::Gap, static_cast<std::uint16_t>(format::GapReason::NestedTooDeep), {m_time++});
  } else if (what == "sync") {
    event(RecordType::Sync, static_cast<std::uint16_t>(format::SyncKind::Fork), {m_time++, 0, 0});
  } else if (what == "wait") {  // by number, as in wait.h
    event(RecordType::Sync, static_cast<std::uint16_t>(std::stoul(words[1])), {m_time++, 0x7000});
  } else if (what == "record") {
    std::vector<std::uint64_t> values;
    for (std::size_t i = 3; i < words.size(); ++i) values.push_back(std::stoull(words[i]));
    event(static_cast<RecordType>(std::stoul(words[1])), static_cast<std::uint16_t>(std::stoul(words[2])),
          values);
  } else if (what == "seen") {
    m_seen = {.time = std::stoull(words[1]), .position = position(m_level), .level = m_level};
  } else if (what == "word") {
    write(static_cast<Word>(std::stoul(words[1], nullptr, 16)));
  } else if (what == "bad-dag") {
    write(format::dagRecord(format::kBadDagCode));
  } else if (what.find('.') != std::string::npos) {
    dag(words);
  } else {
    wrong("cannot read '" + what + "'");
  }
}

void RingText::zero(std::size_t first, std::size_t count) {
  std::fill_n(m_segments[0].words.begin() + static_cast<std::ptrdiff_t>(first), count, format::kInvalidWord);
}

std::vector<std::byte> RingText::bytes() const {
  format::RingHeader header{};
  header.magic = format::kRingMagic;
  header.version = m_options.version;
  header.headerSize = format::kRingHeaderSize;
  header.pid = 100;
  header.tid = m_options.tid;
  header.state = static_cast<std::uint32_t>(format::RingState::InUse);
  header.segmentCount = format::kMaxSegments;
  header.level = m_level;
  header.signalSequence = static_cast<std::uint32_t>(m_sequence);
  header.seenTime = m_seen.time;
  header.seenPosition = m_seen.position;
  header.seenLevel = m_seen.level;
  std::memcpy(header.name, "worker", 6);
  const std::size_t segmentBytes = m_segments[0].words.size() * sizeof(Word);
  std::vector<std::byte> out(format::kRingHeaderSize + format::kMaxSegments * segmentBytes);
  for (unsigned i = 0; i < format::kMaxSegments; ++i) {
    auto& segment = header.segments[i];
    if (m_options.version != 1 && m_segments[i].cursor < 0) continue;  // never set up
    segment.base = 0x7000'0000;
    segment.cursor = segment.base + static_cast<std::uint64_t>(m_segments[i].cursor) * sizeof(Word);
    segment.ordinal = m_segments[i].ordinal;
    segment.subBufferWords = m_options.subBufferWords;
    segment.subBufferCount = m_options.subBufferCount;
    segment.subBufferStride = hasSentinels() ? 0 : static_cast<std::uint32_t>(stride());
    segment.fileOffset = format::kRingHeaderSize + i * segmentBytes;
    std::memcpy(out.data() + segment.fileOffset, m_segments[i].words.data(), segmentBytes);
  }
  if (!m_options.history.empty()) {
    header.historyOffset = out.size();
    header.historySize = static_cast<std::uint32_t>(m_options.history.size());
    out.insert(out.end(), m_options.history.begin(), m_options.history.end());
  }
  std::memcpy(out.data(), &header, sizeof header);
  return out;
}

}  // namespace traceback::tests
