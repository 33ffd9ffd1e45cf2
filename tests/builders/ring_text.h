// Ring files for tests, from text that says what a thread did, in the order in which it did it:
//
//     start                      ThreadStart
//     main.a b f.x               head probe of a, light probe of b, and of f's x (a map_text.h map)
//     + c                        a light probe later on
//     claim                      a head probe claims a word; the next DAG line writes it (version 1)
//     signal 14 at main.c+2      a signal interrupts there; a handler's records follow, one level up
//     signal 11 at main.c+2 fault fatal
//     h.a
//     return [to main.c+4]       SignalEnd, one level down
//     resume                     Resumption: back on the level below, the handler having been left by longjmp
//     exception main.c+4 [TYPE [again TIME]]
//     time 99 | thread-end | gap too-deep | sync fork | wait KIND | word DEADBEEF | bad-dag
//     record 20 3 1 2            an extended record: type, detail, values
//     seen 99                    here another thread sees it, at that time
//
// Words go through sub-buffers as the runtime does it. Addresses are link-time ones plus the bias.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/format/record.h"
#include "runtime/format/ring.h"
#include "tests/builders/map_text.h"

namespace traceback::tests {

class RingText {
 public:
  struct Options {
    std::uint32_t version = format::kRingVersion;
    std::uint32_t subBufferWords = 256;
    std::uint32_t subBufferCount = 4;
    std::uint32_t tid = 7;
    std::uint64_t bias = 0x5500'0000'0000;
    std::uint32_t codeBase = format::kFirstCode;
    bool continuesSignals =
        false;  // a handler's SignalBegin is at the front of each sub-buffer that it goes on in
    std::vector<std::byte> history = {};  // as it is in the file (runtime/format/history.h)
  };
  // Text that cannot be read ends the test program with a message that names the line.
  RingText(std::string_view text, const MapText& map, const Options& options);
  RingText(std::string_view text, const MapText& map) : RingText(text, map, Options{}) {}

  // Words from this position of the ring on become what they are before they are used.
  void zero(std::size_t first, std::size_t count);
  std::vector<std::byte> bytes() const;
  // The position of the word last written, or claimed, at level n.
  std::uint64_t position(unsigned level) const;
  std::uint64_t pcOf(std::string_view place) const { return m_map.copyOf(place) + m_options.bias; }

 private:
  struct Segment {
    std::vector<format::Word> words;
    std::uint64_t ordinal = 0;
    std::int64_t cursor = -1;  // index of that word
  };
  void line(const std::vector<std::string>& words);
  void dag(const std::vector<std::string>& words);
  void lightProbes(const std::vector<std::string>& words, std::size_t first);
  void signal(const std::vector<std::string>& words);
  void event(format::RecordType type, std::uint16_t detail, const std::vector<std::uint64_t>& values);
  bool hasSentinels() const { return m_options.version < format::kFirstVersionWithWindows; }
  // Words from front to front. Behind a sub-buffer there may be others, which are nobody's.
  std::size_t stride() const { return m_options.subBufferWords + (hasSentinels() ? 0 : 1); }
  std::uint64_t wordsLeft() const;  // in the sub-buffer in use
  void claim();
  void write(format::Word word);
  format::Word& current();

  const MapText& m_map;
  Options m_options;
  Segment m_segments[format::kMaxSegments];
  unsigned m_level = 0;
  bool m_claimed = false;
  std::string m_function;  // of the last DAG line
  std::vector<std::string> m_functions;
  std::vector<std::uint64_t> m_interrupted;  // pcs
  std::vector<std::vector<format::Word>>
      m_begins;  // of the handlers that run: SignalBegin, as kSignalContinued
  std::uint64_t m_time = 1000;
  std::uint64_t m_sequence = 0;
  struct Seen {
    std::uint64_t time = 0, position = 0;
    unsigned level = 0;
  } m_seen;
};

}  // namespace traceback::tests
