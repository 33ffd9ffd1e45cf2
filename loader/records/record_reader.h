// Words to records, either way (runtime/format/record.h).
//
// A record is a DAG word, or a header with its payload. What is neither is damage: payload without a
// header, a header without all of its payload, a word that no rule explains. Which words form a record does
// not depend on the direction or the place where reading began: a record starts at every DAG word and at
// every header, and a header owns the payload words right behind it, as many as it says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/format/record.h"

namespace traceback::loader {

struct Record {
  std::size_t index = 0;   // of its first word
  format::Word word = 0;   // the DAG record, or the header
  std::span<const format::Word> payload;

  bool isDag() const { return format::isDagRecord(word); }
  std::size_t end() const { return index + 1 + payload.size(); }

  // Of an extended record:
  format::RecordType type() const { return format::typeOf(word); }
  std::uint16_t detail() const { return format::detailOf(word); }
  // Value i of the payload, if it has that many.
  std::optional<std::uint64_t> value(std::size_t i) const {
    const auto first = i * format::kWordsPerValue;
    if (payload.size() < first + format::kWordsPerValue) return std::nullopt;
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

class RecordReader {
 public:
  explicit RecordReader(std::span<const format::Word> words) : m_words(words) {}

  // The first record that starts at or after `index`. Counts what it skips on the way.
  std::optional<Record> next(std::size_t index, RecordDamage* damage = nullptr) const;
  // The last record that ends at or before `index`.
  std::optional<Record> previous(std::size_t index) const;
  // The record that starts at `index`, if one does.
  std::optional<Record> at(std::size_t index) const;
  // The record that the word at `index` is part of.
  std::optional<Record> around(std::size_t index) const;

 private:
  std::span<const format::Word> m_words;
};

}  // namespace traceback::loader
