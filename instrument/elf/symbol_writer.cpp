#include "instrument/elf/symbol_writer.h"

#include <array>
#include <limits>
#include <string_view>

namespace traceback::instrument {

namespace {

void append(std::vector<std::byte>& file, std::span<const std::byte> bytes) {
  file.insert(file.end(), bytes.begin(), bytes.end());
}

void append(std::vector<std::byte>& file, std::span<const Elf64_Sym> symbols) {
  append(file, std::as_bytes(symbols));
}

void align(std::vector<std::byte>& file) { file.resize((file.size() + 7) & ~std::size_t{7}); }

class Strings {
 public:
  explicit Strings(std::span<const std::byte> old) : m_bytes(old.begin(), old.end()) {}
  bool full() const { return m_bytes.size() > std::numeric_limits<std::uint32_t>::max(); }
  std::uint32_t add(std::string_view text) {
    const auto at = static_cast<std::uint32_t>(m_bytes.size());
    append(m_bytes, std::as_bytes(std::span(text)));
    m_bytes.push_back(std::byte{0});
    return at;
  }
  const std::vector<std::byte>& bytes() const { return m_bytes; }

 private:
  std::vector<std::byte> m_bytes;
};

std::vector<Elf64_Sym> localSymbols(SectionTable& sections, std::span<const AddedSymbol> symbols,
                                    Strings& strings) {
  std::vector<Elf64_Sym> added;
  for (const auto& symbol : symbols) {
    const auto section = sections.findAddress(symbol.address.value);
    if (!section || strings.full()) continue;
    Elf64_Sym entry{};
    entry.st_name = strings.add(symbol.name);
    entry.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
    entry.st_shndx = static_cast<std::uint16_t>(*section);
    entry.st_value = symbol.address.value;
    entry.st_size = symbol.size;
    added.push_back(entry);
  }
  return added;
}

// The functions that the dynamic symbols name: who finds a .symtab may look no further.
std::vector<Elf64_Sym> exportedFunctions(const loader::ElfImage& image, Strings& strings) {
  std::vector<Elf64_Sym> found;
  const auto symbols = image.dynamicSymbols();
  if (!symbols) return found;
  for (const auto& symbol : *symbols) {
    if (!symbol.defined() || symbol.section >= SHN_LORESERVE || symbol.binding() == STB_LOCAL ||
        strings.full() || (symbol.type() != STT_FUNC && symbol.type() != STT_GNU_IFUNC))
      continue;
    Elf64_Sym entry{};
    entry.st_name = strings.add(symbol.name);
    entry.st_info = symbol.info;
    entry.st_other = symbol.other;
    entry.st_shndx = symbol.section;
    entry.st_value = symbol.address.value;
    entry.st_size = symbol.size;
    found.push_back(entry);
  }
  return found;
}

// For a stripped file.
void makeTable(std::vector<std::byte>& file, const loader::ElfImage& image, SectionTable& sections,
               std::span<const AddedSymbol> symbols) {
  Strings strings(std::array{std::byte{0}});
  std::vector<Elf64_Sym> locals = localSymbols(sections, symbols, strings);
  locals.insert(locals.begin(), Elf64_Sym{});
  const std::vector<Elf64_Sym> globals = exportedFunctions(image, strings);

  align(file);
  Elf64_Shdr table{};
  table.sh_type = SHT_SYMTAB;
  table.sh_offset = file.size();
  table.sh_size = (locals.size() + globals.size()) * sizeof(Elf64_Sym);
  table.sh_info = static_cast<std::uint32_t>(locals.size());
  table.sh_entsize = sizeof(Elf64_Sym);
  table.sh_addralign = 8;
  append(file, locals);
  append(file, globals);
  Elf64_Shdr texts{};
  texts.sh_type = SHT_STRTAB;
  texts.sh_offset = file.size();
  texts.sh_size = strings.bytes().size();
  texts.sh_addralign = 1;
  append(file, strings.bytes());
  const std::size_t index = sections.add(".symtab", table);
  sections[index].header.sh_link = static_cast<std::uint32_t>(sections.add(".strtab", texts));
}

}  // namespace

void appendSymbols(std::vector<std::byte>& file, const loader::ElfImage& image, SectionTable& sections,
                   std::span<const AddedSymbol> symbols) {
  if (symbols.empty()) return;
  const auto index = sections.findType(SHT_SYMTAB);
  if (!index) return makeTable(file, image, sections, symbols);
  auto& table = sections[*index].header;
  if (table.sh_link == 0 || table.sh_link >= image.sections().size() || table.sh_entsize != sizeof(Elf64_Sym))
    return;
  for (const auto& entry : sections.entries()) {
    if (entry.header.sh_link == *index && entry.header.sh_type != SHT_NULL) return;
  }
  const auto oldTable = image.contents(image.sections()[*index]);
  const auto oldStrings = image.contents(image.sections()[table.sh_link]);
  const std::uint64_t localsSize = std::uint64_t{table.sh_info} * sizeof(Elf64_Sym);
  if (localsSize > oldTable.size()) return;

  Strings strings(oldStrings);
  const auto added = localSymbols(sections, symbols, strings);
  align(file);
  table.sh_offset = file.size();
  table.sh_size = oldTable.size() + added.size() * sizeof(Elf64_Sym);
  append(file, oldTable.first(localsSize));
  append(file, added);
  append(file, oldTable.subspan(localsSize));
  table.sh_info += static_cast<std::uint32_t>(added.size());
  auto& stringSection = sections[table.sh_link].header;
  stringSection.sh_offset = file.size();
  stringSection.sh_size = strings.bytes().size();
  append(file, strings.bytes());
}

}  // namespace traceback::instrument
