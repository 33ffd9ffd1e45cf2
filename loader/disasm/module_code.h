// The code of a module as the original file has it, for a look at what ran where there is no source.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "loader/disasm/disassemble.h"
#include "loader/elf/elf_image.h"
#include "loader/mapped_file.h"
#include "model/error.h"
#include "model/ids.h"

namespace traceback::loader {

// Immutable, so usable from any thread. Bytes live as long as the object, which may be moved.
class ModuleCode {
 public:
  // Fails if the file is no x86-64 ELF file, or has another build id than the one given (hex; empty: none).
  static model::Result<ModuleCode> open(const std::string& path, const std::string& buildId);
  // The first of these that opens, but one that is not instrumented if there is one; else why the first
  // failed.
  static model::Result<ModuleCode> openFirst(const std::vector<std::string>& paths,
                                             const std::string& buildId);

  const std::string& path() const { return m_image.path(); }
  // The file is an instrumented one: where functions begin it has jumps to their copies, not their own code.
  bool isInstrumented() const { return m_instrumented; }

  // At most `limit` bytes of code from a link-time address on; fewer at the end of the segment, none if no
  // executable segment of the file holds the address.
  Bytes bytesFrom(model::VirtAddr address, std::size_t limit) const;
  // The instructions in [start, end), at most `limit`.
  std::vector<Instruction> instructionsIn(model::VirtAddr start, model::VirtAddr end, std::size_t limit,
                                          Syntax syntax = Syntax::Att) const;

 private:
  ModuleCode(MappedFile file, ElfImage image) : m_file(std::move(file)), m_image(std::move(image)) {}

  MappedFile m_file;
  ElfImage m_image;
  bool m_instrumented = false;
};

}  // namespace traceback::loader
