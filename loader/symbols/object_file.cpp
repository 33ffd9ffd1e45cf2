#include "loader/symbols/object_file.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <format>

namespace traceback::loader {

namespace {

// CRC-32 (ISO 3309), a byte at a time: debug links are rare and files at most some hundred megabytes.
constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? 0xEDB88320u ^ value >> 1 : value >> 1;
    table[i] = value;
  }
  return table;
}();

std::string readBuildId(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);
  std::string hex;
  for (ssize_t i = 0; i < size; ++i) hex += std::format("{:02x}", static_cast<const std::uint8_t*>(bytes)[i]);
  return hex;
}

}  // namespace

void ObjectFile::Descriptor::reset(int value) {
  if (m_value >= 0) close(m_value);
  m_value = value;
}

model::Result<ObjectFile> ObjectFile::open(const std::string& path) {
  if (elf_version(EV_CURRENT) == EV_NONE) return model::fail("the installed libelf is too old", path);
  ObjectFile object;
  object.m_path = path;
  // Not to block on a pipe that somebody put there.
  object.m_file.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (object.m_file.get() < 0 || fstat(object.m_file.get(), &status) != 0) {
    return model::fail(std::strerror(errno), path);
  }
  if (!S_ISREG(status.st_mode)) return model::fail("not a regular file", path);
  // Private and writable in memory: libelf replaces compressed sections in place.
  object.m_elf.reset(elf_begin(object.m_file.get(), ELF_C_READ_MMAP_PRIVATE, nullptr));
  GElf_Ehdr header;
  if (!object.m_elf || elf_kind(object.m_elf.get()) != ELF_K_ELF ||
      !gelf_getehdr(object.m_elf.get(), &header)) {
    return model::fail("not an ELF file", path);
  }
  if (header.e_machine != EM_X86_64 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return model::fail("not an x86-64 ELF file", path);
  }
  object.m_buildId = readBuildId(object.m_elf.get());
  return object;
}

Dwarf* ObjectFile::dwarf() {
  if (!m_dwarfTried) {
    m_dwarfTried = true;
    m_dwarf.reset(dwarf_begin_elf(m_elf.get(), DWARF_C_READ, nullptr));
  }
  return m_dwarf.get();
}

Elf_Scn* ObjectFile::section(const char* name, GElf_Shdr& header) const {
  std::size_t names = 0;
  if (elf_getshdrstrndx(m_elf.get(), &names) != 0) return nullptr;
  for (Elf_Scn* at = elf_nextscn(m_elf.get(), nullptr); at; at = elf_nextscn(m_elf.get(), at)) {
    if (!gelf_getshdr(at, &header)) continue;
    const char* itsName = elf_strptr(m_elf.get(), names, header.sh_name);
    if (itsName && std::strcmp(itsName, name) == 0) return at;
  }
  return nullptr;
}

bool ObjectFile::has(const char* name) const {
  GElf_Shdr header;
  return section(name, header) && header.sh_type != SHT_NOBITS && header.sh_size > 0;
}

std::span<const std::byte> ObjectFile::contents(const char* name) const {
  GElf_Shdr header;
  Elf_Scn* found = section(name, header);
  if (!found || header.sh_type == SHT_NOBITS) return {};
  if ((header.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(found, 0, 0) < 0) return {};
  const Elf_Data* data = elf_getdata(found, nullptr);
  if (!data || !data->d_buf) return {};
  return {static_cast<const std::byte*>(data->d_buf), data->d_size};
}

std::optional<ObjectFile::DebugLink> ObjectFile::debugLink() const {
  GElf_Word crc = 0;
  const char* name = dwelf_elf_gnu_debuglink(m_elf.get(), &crc);
  if (!name || !*name) return {};
  return DebugLink{name, crc};
}

std::uint32_t ObjectFile::crc() const {
  std::uint32_t value = 0xFFFF'FFFF;
  std::array<std::uint8_t, 65536> buffer;
  off_t offset = 0;
  for (ssize_t got = 0; (got = pread(m_file.get(), buffer.data(), buffer.size(), offset)) > 0;
       offset += got) {
    for (ssize_t i = 0; i < got; ++i)
      value = kCrcTable[(value ^ buffer[static_cast<std::size_t>(i)]) & 0xFF] ^ value >> 8;
  }
  return ~value;
}

}  // namespace traceback::loader
