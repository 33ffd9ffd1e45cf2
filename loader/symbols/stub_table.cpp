#include "loader/symbols/stub_table.h"

#include <gelf.h>
#include <libelf.h>

#include "loader/byte_reader.h"

namespace traceback::loader {

namespace {

using Names = std::unordered_map<std::uint64_t, std::string_view>;

// The words that the dynamic linker fills with addresses of functions, by their own.
void addSlots(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, Names& slots) {
  GElf_Shdr symbolHeader;
  Elf_Scn* symbolSection = elf_getscn(elf, header.sh_link);
  if (!symbolSection || !gelf_getshdr(symbolSection, &symbolHeader)) return;
  Elf_Data* symbols = elf_getdata(symbolSection, nullptr);
  Elf_Data* data = elf_getdata(section, nullptr);
  if (!data || !symbols || symbolHeader.sh_entsize != sizeof(Elf64_Sym)) return;
  const std::size_t count = data->d_size / sizeof(Elf64_Rela);
  for (std::size_t i = 0; i < count && i <= INT32_MAX; ++i) {
    GElf_Rela relocation;
    GElf_Sym symbol;
    if (!gelf_getrela(data, static_cast<int>(i), &relocation)) break;
    const auto type = GELF_R_TYPE(relocation.r_info);
    const auto index = GELF_R_SYM(relocation.r_info);
    if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || index > INT32_MAX ||
        !gelf_getsym(symbols, static_cast<int>(index), &symbol))
      continue;
    const char* name = elf_strptr(elf, symbolHeader.sh_link, symbol.st_name);
    if (name && *name) slots.emplace(relocation.r_offset, name);
  }
}

// jmp *slot(%rip), somewhere in each.
void addStubs(Elf_Scn* section, const GElf_Shdr& header, const Names& slots, Names& stubs) {
  constexpr std::uint64_t kStubSize = 16;
  constexpr std::size_t kJumpSize = 6;
  const Elf_Data* data = elf_getdata(section, nullptr);
  if (!data || !data->d_buf) return;
  const std::uint64_t size = header.sh_entsize == kStubSize / 2 ? kStubSize / 2 : kStubSize;
  const Bytes bytes(static_cast<const std::byte*>(data->d_buf), data->d_size);
  for (std::size_t i = 0; i + kJumpSize <= bytes.size(); ++i) {
    if (bytes[i] != std::byte{0xFF} || bytes[i + 1] != std::byte{0x25}) continue;
    const auto distance = readAt<std::int32_t>(bytes, i + 2);
    const std::uint64_t slot =
        header.sh_addr + i + kJumpSize + static_cast<std::uint64_t>(std::int64_t{*distance});
    if (const auto found = slots.find(slot); found != slots.end())
      stubs.emplace(header.sh_addr + i / size * size, found->second);
  }
}

}  // namespace

void StubTable::add(Elf* elf) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return;
  Names slots;
  GElf_Shdr header;
  for (Elf_Scn* at = elf_nextscn(elf, nullptr); at; at = elf_nextscn(elf, at)) {
    if (gelf_getshdr(at, &header) && header.sh_type == SHT_RELA && (header.sh_flags & SHF_ALLOC) != 0)
      addSlots(elf, at, header, slots);
  }
  for (Elf_Scn* at = elf_nextscn(elf, nullptr); at && !slots.empty(); at = elf_nextscn(elf, at)) {
    if (!gelf_getshdr(at, &header) || header.sh_type != SHT_PROGBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name && std::string_view(name).starts_with(".plt")) addStubs(at, header, slots, m_names);
  }
}

std::string_view StubTable::at(model::VirtAddr address) const {
  const auto found = m_names.find(address.value);
  return found != m_names.end() ? found->second : std::string_view();
}

}  // namespace traceback::loader
