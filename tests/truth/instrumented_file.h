// ELF files and what an instrumented one holds besides, read by the tests themselves. Only the formats'
// headers are shared with the product: they are what is agreed, not how it is read.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/format/map.h"
#include "runtime/format/module.h"

namespace traceback::truth {

class ElfFile {
 public:
  static std::expected<ElfFile, std::string> open(const std::string& path);

  const std::vector<Elf64_Phdr>& segments() const { return m_segments; }
  const Elf64_Ehdr& header() const { return m_header; }
  // Bytes that the file gives for link-time addresses; nothing if it does not give all of them.
  std::optional<std::span<const unsigned char>> at(std::uint64_t address, std::uint64_t size) const;
  std::optional<std::span<const unsigned char>> section(const std::string& name) const;
  std::string sectionAt(std::uint64_t address) const;
  std::uint64_t sizeOfSectionAt(std::uint64_t start) const;  // that begins there; 0 if none does
  struct Section {
    std::string name;
    std::uint64_t address, size;
  };
  std::vector<Section> loadedSections() const;  // those with bytes in the file

 private:
  std::vector<unsigned char> m_bytes;
  Elf64_Ehdr m_header{};
  std::vector<Elf64_Phdr> m_segments;
  std::vector<Elf64_Shdr> m_sections;
  std::vector<std::string> m_names;
};

struct InstrumentedFunction {
  format::FunctionEntry entry{};
  std::string name;
  std::vector<format::DagEntry> dags;
  std::vector<format::BlockEntry> blocks;
  std::vector<format::AddressEntry> addresses;
};

struct InstrumentedFile {
  ElfFile elf;
  std::uint64_t headerAddress = 0;
  format::ModuleHeader module{};
  format::MapHeader map{};
  std::vector<InstrumentedFunction> functions;

  static std::expected<InstrumentedFile, std::string> open(const std::string& path);

  // Of the module; nothing if it is not all in the file.
  template <typename Entry>
  std::optional<std::vector<Entry>> table(std::uint32_t offset, std::uint32_t count) const {
    const auto bytes = elf.at(headerAddress + offset, std::uint64_t{count} * sizeof(Entry));
    if (!bytes) return std::nullopt;
    std::vector<Entry> out(count);
    if (count != 0) std::memcpy(out.data(), bytes->data(), bytes->size());
    return out;
  }
};

}  // namespace traceback::truth
