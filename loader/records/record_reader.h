// Words to records, either way (runtime/format/record.h).
//
// A record is a DAG word, or a header with its payload. What is neither is damage: payload without a
// header, a header without all of its payload, a word that no rule explains. Which words form a record does
// not depend on the direction or the place where reading began: a record starts at every DAG word and at
// every header, and a header owns the payload words right behind it, as many as it says.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "loader/ring/segment_words.h"
#include "runtime/format/record.h"

namespace traceback::loader {

struct Record {
  static constexpr std::size_t kMostValues = static_cast<std::size_t>(format::SignalBeginField::Count);

  std::size_t index = 0;   // of its first word
  format::Word word = 0;   // the DAG record, or the header
  std::uint32_t payloadWords = 0;
  // The first of them: what any type of record that we know has.
  std::array<format::Word, kMostValues * format::kWordsPerValue> payload;

  bool isDag() const { return format::isDagRecord(word); }
  std::size_t end() const { return index + 1 + payloadWords; }

  // Of an extended record:
  format::RecordType type() const { return format::typeOf(word); }
  std::uint16_t detail() const { return format::detailOf(word); }
  // Value i of the payload, if it has that many.
  std::optional<std::uint64_t> value(std::size_t i) const {
    const auto first = i * format::kWordsPerValue;
    if (i >= kMostValues || payloadWords < first + format::kWordsPerValue) return std::nullopt;
    return format::valueOf(payload[first], payload[first + 1], payload[first + 2]);
  }
};

// Words that belong to no record, counted by kind.
struct RecordDamage {
  std::uint64_t strayPayload = 0;  // words
  std::uint64_t tornRecords = 0;   // headers without all of their payload
  std::uint64_t unknownWords = 0;  // of no known tag
  std::uint64_t holes = 0;         // claimed and never written: no damage of the data
  std::uint64_t total() const { return strayPayload + tornRecords + unknownWords; }
};

// Not to be used by several threads at once; the segment must outlive it.
class RecordReader {
 public:
  static constexpr std::size_t kToTheEnd = SIZE_MAX;
  explicit RecordReader(const SegmentWords& words) : m_words(words) {}

  // The first record that starts at or after `index` and lies before `end`. Counts what it skips on the way.
  std::optional<Record> next(std::size_t index, RecordDamage* damage = nullptr, std::size_t end = kToTheEnd);
  // The last record that ends at or before `index`.
  std::optional<Record> previous(std::size_t index);
  // The record that starts at `index`, if one does, and lies before `end`.
  std::optional<Record> at(std::size_t index, std::size_t end = kToTheEnd);
  // The bytes of its payload from that value on, up to the first zero or the end.
  std::string text(const Record& record, std::size_t firstValue);
  // The record that the word at `index` is part of.
  std::optional<Record> around(std::size_t index);

 private:
  WordWindow m_words;
};

}  // namespace traceback::loader
