// Function names from symbol tables, for code without debug information.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/ids.h"

struct Elf;

namespace traceback::loader {

// The functions that the .symtab and .dynsym of one or more files define, by address. Immutable once filled.
class SymbolTable {
 public:
  struct Symbol {
    model::VirtAddr start, end;  // end: by its size, else where the next one or its section begins
    std::string_view name;       // of the file's string table: lives as long as the Elf
    bool sized = false;
  };

  void add(Elf* elf);
  // Sorts and settles what is at one address twice: global names before local ones, sized before unsized.
  void finish();

  bool empty() const { return m_symbols.empty(); }
  // The function that holds the address; null if none does.
  const Symbol* at(model::VirtAddr address) const;

 private:
  struct Candidate {
    Symbol symbol;
    int rank = 0;  // less is better
  };
  std::vector<Candidate> m_candidates;
  std::vector<Symbol> m_symbols;  // by start, one each
  std::vector<std::uint64_t> m_reach;  // the greatest end of the symbols up to this one
};

}  // namespace traceback::loader
