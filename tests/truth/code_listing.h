// Where a program's instructions begin and what its addresses are called, by objdump and nm.
#pragma once

#include <QString>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/truth/product_run.h"
#include "tests/truth/traced_path.h"

namespace traceback::truth {

class CodeListing {
 public:
  static Attempt<CodeListing> of(const QString& program);

  // Appends the instructions of a piece. An error if an end of it is not where an instruction begins.
  Attempt<void> expand(const TracedPiece& piece, std::vector<std::uint32_t>& out) const;
  // "0x1149 main+0x9: mov %eax,..."
  QString describe(std::uint32_t address) const;
  std::optional<std::uint32_t> symbol(const std::string& name) const;
  const std::map<std::uint32_t, std::string>& symbols() const { return m_names; }

 private:
  std::vector<std::uint32_t> m_starts;
  std::map<std::uint32_t, QString> m_text;
  std::map<std::uint32_t, std::string> m_names;
  std::map<std::string, std::uint32_t> m_symbols;
};

// Nothing if they are the same, else a readable account of where they part.
std::optional<QString> firstDifference(const std::vector<std::uint32_t>& truth,
                                       const std::vector<std::uint32_t>& traced, const CodeListing& listing);

}  // namespace traceback::truth
