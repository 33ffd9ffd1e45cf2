#include "loader/symbols/symbol_table.h"

#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <tuple>

namespace traceback::loader {

namespace {

// Nested functions are not a thing of symbol tables: looking this far back for one that reaches is plenty.
constexpr int kLookBack = 64;

}  // namespace

void SymbolTable::add(Elf* elf) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
      continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (!data || header.sh_entsize != sizeof(Elf64_Sym)) continue;
    const std::size_t count = data->d_size / sizeof(Elf64_Sym);
    for (std::size_t i = 1; i < count && i <= INT32_MAX; ++i) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, static_cast<int>(i), &symbol)) break;
      const int type = GELF_ST_TYPE(symbol.st_info);
      if (type != STT_FUNC && type != STT_GNU_IFUNC) continue;
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || symbol.st_value == 0) continue;
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (!name || !*name) continue;
      std::uint64_t end = 0;
      const bool sized = symbol.st_size > 0 && !__builtin_add_overflow(symbol.st_value, symbol.st_size, &end);
      if (!sized) {
        GElf_Shdr home;
        Elf_Scn* homeSection = symbol.st_shndx < SHN_LORESERVE ? elf_getscn(elf, symbol.st_shndx) : nullptr;
        const bool known = homeSection && gelf_getshdr(homeSection, &home) && home.sh_addr <= symbol.st_value;
        if (!known || __builtin_add_overflow(home.sh_addr, home.sh_size, &end)) end = symbol.st_value + 1;
      }
      const int rank = (sized ? 0 : 4) + (GELF_ST_BIND(symbol.st_info) == STB_LOCAL ? 2 : 0) +
                       (GELF_ST_BIND(symbol.st_info) == STB_WEAK ? 1 : 0);
      m_candidates.push_back({{{symbol.st_value}, {end}, name, sized}, rank});
    }
  }
}

void SymbolTable::finish() {
  std::ranges::stable_sort(m_candidates, [](const Candidate& a, const Candidate& b) {
    return std::tie(a.symbol.start, a.rank, a.symbol.name) < std::tie(b.symbol.start, b.rank, b.symbol.name);
  });
  m_symbols.clear();
  for (const Candidate& candidate : m_candidates) {
    if (m_symbols.empty() || m_symbols.back().start != candidate.symbol.start)
      m_symbols.push_back(candidate.symbol);
  }
  std::uint64_t reach = 0;
  for (std::size_t i = 0; i < m_symbols.size(); ++i) {
    Symbol& symbol = m_symbols[i];
    if (!symbol.sized && i + 1 < m_symbols.size()) symbol.end = std::min(symbol.end, m_symbols[i + 1].start);
    reach = std::max(reach, symbol.end.value);
    m_reach.push_back(reach);
  }
  m_candidates = {};
}

const SymbolTable::Symbol* SymbolTable::at(model::VirtAddr address) const {
  auto after = std::ranges::upper_bound(m_symbols, address, {}, &Symbol::start);
  for (int tries = 0; after != m_symbols.begin() && tries < kLookBack; ++tries) {
    --after;
    if (address < after->end) return &*after;
    if (m_reach[static_cast<std::size_t>(after - m_symbols.begin())] <= address.value) return nullptr;
  }
  return nullptr;
}

}  // namespace traceback::loader
