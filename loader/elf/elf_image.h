// A checked view of an x86-64 ELF file (System V ABI, chapters 4 and 5; AMD64 supplement).
//
// parse() checks what everything else stands on: the identification, the header tables, and that every
// segment and section lies within the file. What a part of the file says beyond that is checked when it is
// asked for. Nothing is copied but the two header tables: names and contents are views of the bytes given,
// which must outlive the image. Immutable, so usable from any thread.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loader/byte_reader.h"
#include "model/error.h"
#include "model/ids.h"

namespace traceback::loader {

struct ElfSymbol {
  std::string_view name;    // may be empty
  model::VirtAddr address;  // st_value; for a thread-local symbol an offset, for an undefined one 0
  std::uint64_t size = 0;
  std::uint32_t index = 0;  // in its table, as relocations count
  std::uint16_t section = SHN_UNDEF;
  std::uint8_t info = 0;
  std::uint8_t other = 0;

  std::uint8_t type() const { return ELF64_ST_TYPE(info); }
  std::uint8_t binding() const { return ELF64_ST_BIND(info); }
  std::uint8_t visibility() const { return ELF64_ST_VISIBILITY(other); }
  bool defined() const { return section != SHN_UNDEF; }
};

struct ElfRelocation {
  enum class Table : std::uint8_t { Rela, Relr, JmpRel };
  model::VirtAddr address;   // what is relocated
  std::int64_t addend = 0;   // for Relr: what the file has at `address`
  std::uint32_t type = 0;    // R_X86_64_*; for Relr always R_X86_64_RELATIVE
  std::uint32_t symbol = 0;  // index in the dynamic symbols
  Table table = Table::Rela;
};

struct ElfNote {
  std::string_view name;  // without its terminating zero
  std::uint32_t type = 0;
  Bytes description;
};

class ElfImage {
 public:
  // Refuses, with the file's name, the reason and the offset: what is not ELF, not 64-bit, not
  // little-endian, not x86-64; truncated files; header tables that contradict themselves.
  static model::Result<ElfImage> parse(Bytes bytes, std::string path);

  const std::string& path() const { return m_path; }
  Bytes bytes() const { return m_bytes; }
  const Elf64_Ehdr& header() const { return m_header; }
  std::uint16_t type() const { return m_header.e_type; }  // ET_EXEC, ET_DYN, ...
  model::VirtAddr entry() const { return {m_header.e_entry}; }

  std::span<const Elf64_Phdr> segments() const { return m_segments; }
  const Elf64_Phdr* segment(std::uint32_t type) const;         // the first of a type, or null
  const Elf64_Phdr* segmentAt(model::VirtAddr address) const;  // the PT_LOAD whose memory holds it

  // Section headers may be absent: then this is empty.
  std::span<const Elf64_Shdr> sections() const { return m_sections; }
  std::string_view sectionName(const Elf64_Shdr& section) const;  // empty if it has none
  const Elf64_Shdr* section(std::string_view name) const;         // the first of that name, or null
  Bytes contents(const Elf64_Shdr& section) const;                // empty for SHT_NOBITS

  // Bytes that the file has for [address, address + size); nothing if a part of it is not in the file or
  // it spans two segments. fromAddress: all that the segment has from there on.
  std::optional<Bytes> bytesAt(model::VirtAddr address, std::uint64_t size) const;
  std::optional<Bytes> fromAddress(model::VirtAddr address) const;
  std::optional<std::uint64_t> fileOffset(model::VirtAddr address) const;

  // .symtab; empty if stripped. Entry 0, the undefined symbol, is included.
  model::Result<std::vector<ElfSymbol>> symbols() const;
  // .dynsym, found through the section or, without sections, through the dynamic entries.
  model::Result<std::vector<ElfSymbol>> dynamicSymbols() const;

  // PT_DYNAMIC up to DT_NULL; empty in a static program.
  const std::vector<Elf64_Dyn>& dynamic() const { return m_dynamic; }
  std::optional<std::uint64_t> dynamicValue(std::int64_t tag) const;  // of the first with that tag
  std::optional<std::string_view> dynamicString(std::uint64_t offset) const;
  std::vector<std::string_view> needed() const;

  // All dynamic relocations: RELA, RELR, JMPREL, in that order.
  model::Result<std::vector<ElfRelocation>> relocations() const;

  // Of PT_NOTE segments, or of SHT_NOTE sections if there are none. Stops at the first malformed one.
  std::vector<ElfNote> notes() const;
  std::string buildId() const;  // hex; empty if none

 private:
  ElfImage(Bytes bytes, std::string path) : m_bytes(bytes), m_path(std::move(path)) {}

  model::Result<void> readHeader();
  model::Result<void> readTables();
  model::Result<void> checkSegments() const;
  model::Result<void> checkSections() const;
  model::Result<void> readDynamic();
  model::Result<std::vector<ElfSymbol>> symbolsOf(Bytes table, Bytes strings) const;
  std::optional<std::uint64_t> dynamicSymbolCount() const;
  std::unexpected<model::Error> error(std::string message, std::optional<std::uint64_t> offset = {}) const {
    return model::fail(std::move(message), m_path, offset);
  }

  Bytes m_bytes;
  std::string m_path;
  Elf64_Ehdr m_header{};
  std::vector<Elf64_Phdr> m_segments;
  std::vector<Elf64_Shdr> m_sections;
  std::vector<Elf64_Dyn> m_dynamic;
  Bytes m_sectionNames;
};

}  // namespace traceback::loader
