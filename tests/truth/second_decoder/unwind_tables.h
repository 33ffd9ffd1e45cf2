// The unwind tables of an ELF file, read as an unwinder reads them: .eh_frame, its search table, the rules
// that hold at an address, and the exception tables.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/truth/instrumented_file.h"

namespace traceback::truth {

struct Cie {
  std::uint64_t codeAlign = 1;
  std::int64_t dataAlign = 1;
  std::uint64_t returnRegister = 16;
  bool signalFrame = false, augmented = false;
  std::string augmentation;
  std::uint8_t fdeEncoding = 0, lsdaEncoding = 0xFF, personalityEncoding = 0xFF;
  std::uint64_t personality = 0;  // 0: none; where its pointer is, if that is indirect
  std::span<const unsigned char> program;
};

struct Fde {
  std::uint64_t address = 0;  // of the entry itself
  std::uint64_t start = 0, size = 0;
  std::uint64_t lsda = 0;
  const Cie* cie = nullptr;
  std::span<const unsigned char> program;
};

// How to find a value of the calling frame.
struct UnwindRule {
  enum class Kind : std::uint8_t {
    Same,
    Undefined,
    Offset,
    ValueOffset,
    Register,
    Expression,
    ValueExpression
  };
  Kind kind = Kind::Same;
  std::int64_t value = 0;  // offset or register
  std::string expression;
  bool operator==(const UnwindRule&) const = default;
};

struct UnwindRow {
  std::uint64_t from = 0;  // address; until the next row's
  bool cfaIsExpression = false;
  std::uint64_t cfaRegister = 0;
  std::int64_t cfaOffset = 0;
  std::string cfaExpression;
  std::map<std::uint64_t, UnwindRule> registers;  // those that are not Same
  std::uint64_t argumentsSize = 0;

  bool sameRules(const UnwindRow& other) const;
  std::string text() const;
};

struct CaughtAs {  // one link of a chain of actions
  std::int64_t filter = 0;
  std::vector<std::uint64_t> types;  // where the types (or their pointers) are
  bool operator==(const CaughtAs&) const = default;
};

struct CallSite {
  std::uint64_t start = 0, end = 0;
  std::uint64_t pad = 0;  // 0: none
  std::vector<CaughtAs> actions;
};

class UnwindTables {
 public:
  // Fails on what an unwinder could not read either.
  static std::expected<UnwindTables, std::string> read(const ElfFile& file);

  const std::vector<Fde>& entries() const { return m_fdes; }  // by address of the code
  const Fde* entryAt(std::uint64_t address) const;            // the one that the code at this address has
  // As the search table has it: start of the code and its entry.
  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& searchTable() const { return m_search; }

  std::expected<std::vector<UnwindRow>, std::string> rows(const Fde& fde) const;
  std::expected<std::vector<CallSite>, std::string> callSites(const Fde& fde) const;

 private:
  const ElfFile* m_file = nullptr;
  std::map<std::uint64_t, Cie> m_cies;  // by address
  std::vector<Fde> m_fdes;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> m_search;
};

}  // namespace traceback::truth
