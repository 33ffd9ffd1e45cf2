// An ELF file, and all that its tables say.
#include "loader/elf/elf_image.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace traceback;
  const auto image = loader::ElfImage::parse(tests::bytesOf(data, size), "fuzz");
  if (!image) return 0;
  std::size_t sum = image->notes().size() + image->buildId().size() + image->needed().size();
  for (const auto& section : image->sections()) {
    sum += image->sectionName(section).size() + image->contents(section).size();
  }
  if (const auto symbols = image->symbols()) {
    for (const auto& symbol : *symbols) sum += symbol.name.size();
  }
  if (const auto symbols = image->dynamicSymbols()) {
    for (const auto& symbol : *symbols) sum += symbol.name.size();
  }
  if (const auto relocations = image->relocations()) {
    for (const auto& relocation : *relocations)
      sum += image->bytesAt(relocation.address, 8).has_value() ? 1 : 0;
  }
  return sum == 1 ? 1 : 0;
}
