// An ELF file opened by libelf and libdw, as far as finding debug information needs it.
#pragma once

#include <elfutils/libdw.h>
#include <gelf.h>
#include <libelf.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "model/error.h"

namespace traceback::loader {

// Not thread-safe, as libdw is not: who shares one locks around it. Strings that libdw hands out live as
// long as the object, which may be moved.
class ObjectFile {
 public:
  // Fails for what is no regular file or no 64-bit little-endian x86-64 ELF file.
  static model::Result<ObjectFile> open(const std::string& path);

  const std::string& path() const { return m_path; }
  const std::string& buildId() const { return m_buildId; }  // hex; empty if none
  Elf* elf() const { return m_elf.get(); }

  // The debug information; null if there is none that can be read. Opened at the first call.
  Dwarf* dwarf();
  // Whether it has a section of that name with contents (an emptied copy of one has none).
  bool has(const char* section) const;
  // The uncompressed contents of a section; empty if there is none. They live as long as the object.
  std::span<const std::byte> contents(const char* section) const;

  // What .gnu_debuglink names, with the CRC that file must have.
  struct DebugLink {
    std::string name;
    std::uint32_t crc = 0;
  };
  std::optional<DebugLink> debugLink() const;
  // The CRC of all of the file, as .gnu_debuglink counts it (polynomial 0xEDB88320).
  std::uint32_t crc() const;

 private:
  Elf_Scn* section(const char* name, GElf_Shdr& header) const;  // null if there is none

  class Descriptor {
   public:
    Descriptor() = default;
    Descriptor(Descriptor&& other) noexcept : m_value(std::exchange(other.m_value, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
      if (this != &other) reset(std::exchange(other.m_value, -1));
      return *this;
    }
    ~Descriptor() { reset(-1); }
    void reset(int value);
    int get() const { return m_value; }

   private:
    int m_value = -1;
  };
  struct EndElf {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  struct EndDwarf {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
  };

  std::string m_path;
  std::string m_buildId;
  Descriptor m_file;  // before what stands on it
  std::unique_ptr<Elf, EndElf> m_elf;
  std::unique_ptr<Dwarf, EndDwarf> m_dwarf;
  bool m_dwarfTried = false;
};

}  // namespace traceback::loader
