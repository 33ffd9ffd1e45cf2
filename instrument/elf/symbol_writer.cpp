#include "instrument/elf/symbol_writer.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace traceback::instrument {

namespace {

void append(std::vector<std::byte>& file, std::span<const std::byte> bytes) {
  file.insert(file.end(), bytes.begin(), bytes.end());
}

}  // namespace

void appendSymbols(std::vector<std::byte>& file, const loader::ElfImage& image, SectionTable& sections,
                   std::span<const AddedSymbol> symbols) {
  const auto index = sections.findType(SHT_SYMTAB);
  if (!index || symbols.empty()) return;
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

  std::vector<std::byte> strings(oldStrings.begin(), oldStrings.end());
  std::vector<Elf64_Sym> added;
  for (const auto& symbol : symbols) {
    const auto section = sections.findAddress(symbol.address.value);
    if (!section || strings.size() > std::numeric_limits<std::uint32_t>::max()) continue;
    Elf64_Sym entry{};
    entry.st_name = static_cast<std::uint32_t>(strings.size());
    entry.st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
    entry.st_shndx = static_cast<std::uint16_t>(*section);
    entry.st_value = symbol.address.value;
    entry.st_size = symbol.size;
    added.push_back(entry);
    append(strings, std::as_bytes(std::span(symbol.name)));
    strings.push_back(std::byte{0});
  }

  file.resize((file.size() + 7) & ~std::size_t{7});
  table.sh_offset = file.size();
  table.sh_size = oldTable.size() + added.size() * sizeof(Elf64_Sym);
  append(file, oldTable.first(localsSize));
  append(file, std::as_bytes(std::span(added)));
  append(file, oldTable.subspan(localsSize));
  table.sh_info += static_cast<std::uint32_t>(added.size());
  auto& stringSection = sections[table.sh_link].header;
  stringSection.sh_offset = file.size();
  stringSection.sh_size = strings.size();
  append(file, strings);
}

}  // namespace traceback::instrument
