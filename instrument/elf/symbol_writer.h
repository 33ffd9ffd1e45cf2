// Adds function symbols to a file's .symtab.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "instrument/elf/elf_writer.h"
#include "instrument/elf/section_table.h"

namespace traceback::instrument {

// Appends a symbol table and its strings to the file, the old ones with local symbols added, and leads the
// section headers to them. A stripped file gets a table, in which the functions of its dynamic symbols are
// too. Does nothing if something counts the symbols (kept relocations), or if the table is damaged.
void appendSymbols(std::vector<std::byte>& file, const loader::ElfImage& image, SectionTable& sections,
                   std::span<const AddedSymbol> symbols);

}  // namespace traceback::instrument
