#include "loader/disasm/module_code.h"

#include <algorithm>
#include <format>
#include <optional>

#include "runtime/format/map.h"

namespace traceback::loader {

model::Result<ModuleCode> ModuleCode::open(const std::string& path, const std::string& buildId) {
  auto file = MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  auto image = ElfImage::parse(file->bytes(), path);
  if (!image) return std::unexpected(image.error());
  const auto shown = [](const std::string& id) { return id.empty() ? "missing" : id; };
  if (image->buildId() != buildId) {
    return model::fail(std::format("its build id is {}, not {}", shown(image->buildId()), shown(buildId)),
                       path);
  }
  ModuleCode code(std::move(*file), std::move(*image));
  code.m_instrumented = code.m_image.section(format::kMapSection) != nullptr;
  return code;
}

model::Result<ModuleCode> ModuleCode::openFirst(const std::vector<std::string>& paths,
                                                const std::string& buildId) {
  std::optional<ModuleCode> instrumented;
  std::optional<model::Error> error;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    auto code = open(path, buildId);
    if (!code) {
      if (!error) error = code.error();
    } else if (!code->isInstrumented()) {
      return code;
    } else if (!instrumented) {
      instrumented = std::move(*code);
    }
  }
  if (instrumented) return std::move(*instrumented);
  return std::unexpected(error ? *error : model::Error{"no file is known", {}, {}});
}

Bytes ModuleCode::bytesFrom(model::VirtAddr address, std::size_t limit) const {
  const Elf64_Phdr* segment = m_image.segmentAt(address);
  if (!segment || !(segment->p_flags & PF_X)) return {};
  const auto bytes = m_image.fromAddress(address);
  return bytes ? bytes->first(std::min(limit, bytes->size())) : Bytes();
}

std::vector<Instruction> ModuleCode::instructionsIn(model::VirtAddr start, model::VirtAddr end,
                                                    std::size_t limit, Syntax syntax) const {
  if (end <= start) return {};
  // No more than the instructions asked for can take: 15 bytes each, by the architecture.
  constexpr std::size_t kLongest = 15;
  const std::uint64_t wanted = end.value - start.value;
  const std::uint64_t most = limit < SIZE_MAX / kLongest ? limit * kLongest : SIZE_MAX;
  return disassemble(bytesFrom(start, std::min(wanted, most)), start, limit, syntax);
}

}  // namespace traceback::loader
