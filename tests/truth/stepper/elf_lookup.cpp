// The little that the stepper must know of an ELF file, read by itself.
#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/truth/stepper/stepper.h"

namespace traceback::truth {

namespace {

Outcome<std::string> readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(path + ": cannot be opened");
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return std::unexpected(path + ": not an ELF file");
  return bytes;
}

template <typename T>
bool readAt(const std::string& bytes, std::uint64_t offset, T& value) {
  if (sizeof(T) > bytes.size() || offset > bytes.size() - sizeof(T)) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

}  // namespace

Outcome<std::uint64_t> entryPoint(const std::string& path) {
  auto bytes = readFile(path);
  if (!bytes) return std::unexpected(bytes.error());
  Elf64_Ehdr header;
  readAt(*bytes, 0, header);
  return header.e_entry;
}

Outcome<std::vector<Range>> sectionRange(const std::string& path, const std::string& section) {
  auto bytes = readFile(path);
  if (!bytes) return std::unexpected(bytes.error());
  Elf64_Ehdr header;
  readAt(*bytes, 0, header);
  Elf64_Shdr names;
  if (!readAt(*bytes, header.e_shoff + std::uint64_t(header.e_shstrndx) * sizeof names, names))
    return std::unexpected(path + ": no section names");
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr entry;
    if (!readAt(*bytes, header.e_shoff + std::uint64_t(i) * sizeof entry, entry)) break;
    const std::uint64_t at = names.sh_offset + entry.sh_name;
    if (at < bytes->size() && std::strcmp(bytes->c_str() + at, section.c_str()) == 0)
      return std::vector<Range>{{entry.sh_addr, entry.sh_addr + entry.sh_size}};
  }
  return std::unexpected(path + ": no section " + section);
}

}  // namespace traceback::truth
