#include "loader/records/record_reader.h"

namespace traceback::loader {

using format::isDagRecord;
using format::isHeader;
using format::isPayload;

std::optional<Record> RecordReader::at(std::size_t index) const {
  if (index >= m_words.size()) return std::nullopt;
  const auto word = m_words[index];
  if (isDagRecord(word)) return Record{.index = index, .word = word, .payload = {}};
  if (!isHeader(word)) return std::nullopt;
  const std::size_t count = format::payloadWordsOf(word);
  if (count > m_words.size() - index - 1) return std::nullopt;
  const auto payload = m_words.subspan(index + 1, count);
  for (const auto part : payload) {
    if (!isPayload(part)) return std::nullopt;
  }
  return Record{.index = index, .word = word, .payload = payload};
}

std::optional<Record> RecordReader::next(std::size_t index, RecordDamage* damage) const {
  RecordDamage ignored;
  auto& count = damage != nullptr ? *damage : ignored;
  for (; index < m_words.size(); ++index) {
    if (const auto record = at(index)) return record;
    const auto word = m_words[index];
    if (isHeader(word)) {
      ++count.tornRecords;
      while (index + 1 < m_words.size() && isPayload(m_words[index + 1]))
        ++index;  // counted with their header
    } else if (isPayload(word)) {
      ++count.strayPayload;
    } else if (word == format::kInvalidWord) {
      ++count.holes;
    } else {
      ++count.unknownWords;
    }
  }
  return std::nullopt;
}

std::optional<Record> RecordReader::around(std::size_t index) const {
  if (index >= m_words.size()) return std::nullopt;
  auto start = index;
  while (start > 0 && isPayload(m_words[start])) --start;
  const auto record = at(start);
  return record && index < record->end() ? record : std::nullopt;
}

std::optional<Record> RecordReader::previous(std::size_t index) const {
  index = index < m_words.size() ? index : m_words.size();
  while (index > 0) {
    auto start = index - 1;
    while (start > 0 && isPayload(m_words[start])) --start;
    if (const auto record = at(start); record && record->end() <= index) return record;
    index = start;
  }
  return std::nullopt;
}

}  // namespace traceback::loader
