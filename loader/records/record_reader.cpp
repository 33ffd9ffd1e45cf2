#include "loader/records/record_reader.h"

#include <algorithm>

namespace traceback::loader {

using format::isDagRecord;
using format::isHeader;
using format::isPayload;

std::optional<Record> RecordReader::at(std::size_t index, std::size_t end) {
  end = std::min(end, m_words.size());
  if (index >= end) return std::nullopt;
  std::optional<Record> record(std::in_place);
  record->index = index;
  record->word = m_words[index];
  if (isDagRecord(record->word)) return record;
  if (!isHeader(record->word)) return std::nullopt;
  const std::size_t count = format::payloadWordsOf(record->word);
  if (count > end - index - 1) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    const auto part = m_words[index + 1 + i];
    if (!isPayload(part)) return std::nullopt;
    if (i < record->payload.size()) record->payload[i] = part;
  }
  record->payloadWords = static_cast<std::uint32_t>(count);
  return record;
}

std::string RecordReader::text(const Record& record, std::size_t firstValue) {
  std::string out;
  const auto end = std::min(record.end(), m_words.size());
  for (auto at = record.index + 1 + firstValue * format::kWordsPerValue; at + format::kWordsPerValue <= end;
       at += format::kWordsPerValue) {
    auto value = format::valueOf(m_words[at], m_words[at + 1], m_words[at + 2]);
    for (unsigned i = 0; i < sizeof value; ++i, value >>= 8) {
      if ((value & 0xFF) == 0) return out;
      out += static_cast<char>(value & 0xFF);
    }
  }
  return out;
}

std::optional<Record> RecordReader::next(std::size_t index, RecordDamage* damage, std::size_t end) {
  RecordDamage ignored;
  auto& count = damage != nullptr ? *damage : ignored;
  end = std::min(end, m_words.size());
  for (; index < end; ++index) {
    if (auto record = at(index, end)) return record;
    const auto word = m_words[index];
    if (isHeader(word)) {
      ++count.tornRecords;
      while (index + 1 < end && isPayload(m_words[index + 1])) ++index;  // counted with their header
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

std::optional<Record> RecordReader::around(std::size_t index) {
  if (index >= m_words.size()) return std::nullopt;
  auto start = index;
  while (start > 0 && isPayload(m_words[start])) --start;
  auto record = at(start);
  return record && index < record->end() ? record : std::nullopt;
}

std::optional<Record> RecordReader::previous(std::size_t index) {
  index = std::min(index, m_words.size());
  while (index > 0) {
    auto start = index - 1;
    while (start > 0 && isPayload(m_words[start])) --start;
    if (auto record = at(start); record && record->end() <= index) return record;
    index = start;
  }
  return std::nullopt;
}

}  // namespace traceback::loader
