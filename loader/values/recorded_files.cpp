#include "loader/values/recorded_files.h"

#include <elf.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "loader/symbols/object_file.h"

namespace traceback::loader {

namespace {

// By the path that was mapped; hexadecimal.
std::map<std::string, std::string, std::less<>> buildIdsIn(const SnapReader& snap) {
  std::map<std::string, std::string, std::less<>> ids;
  const auto* section = snap.find(format::SectionType::ModuleFiles);
  const auto bytes = section != nullptr ? snap.read(*section) : std::vector<std::byte>{};
  if (!bytes) return ids;
  std::string_view text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  constexpr std::string_view kPath = "path=", kBuildId = "build-id=";
  std::string path;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with(kPath)) path = line.substr(kPath.size());
    if (line.starts_with(kBuildId)) ids[path] = line.substr(kBuildId.size());
  }
  return ids;
}

std::optional<std::uint64_t> entryPoint(const RecordedProcess& process) {
  for (const auto entry : PackedArray<Elf64_auxv_t>(process.auxiliaryVector))
    if (entry.a_type == AT_ENTRY) return entry.a_un.a_val;
  return std::nullopt;
}

bool isThatFile(const std::string& path, const std::string& buildId) {
  const auto file = ObjectFile::open(path);
  return file && file->buildId() == buildId;
}

}  // namespace

std::vector<RecordedFile> recordedFiles(const RecordedProcess& process) {
  const auto ids = buildIdsIn(process.snap);
  const auto entry = entryPoint(process);
  std::vector<RecordedFile> files;
  std::vector<std::string> mapped;  // of `files`
  for (const auto& mapping : process.mappings) {
    if (!mapping.isFile()) continue;
    const bool holdsEntry = entry && *entry >= mapping.start && *entry < mapping.end;
    if (!mapped.empty() && mapped.back() == mapping.path) {
      files.back().end = mapping.end;
      files.back().isProgram |= holdsEntry;
      continue;
    }
    mapped.push_back(mapping.path);
    files.push_back(
        {.path = mapping.path, .start = mapping.start, .end = mapping.end, .isProgram = holdsEntry});
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    auto& file = files[i];
    const auto name = std::string_view(file.path).substr(file.path.rfind('/') + 1);
    file.isRecorder = name == "libtraceback.so" || name == "libtraceback-audit.so";
    const auto id = ids.find(mapped[i]);
    if (id == ids.end()) continue;
    if (const auto module = process.modules->moduleAt(model::RuntimeAddr{file.start}))
      file.path = process.shown[*module].path;
    file.isHere = isThatFile(file.path, id->second);
    // The copy has the original's code and debug information, at the same addresses.
    if (!file.isHere && file.isProgram && isThatFile(mapped[i], id->second)) {
      file.path = mapped[i];
      file.isHere = true;
    }
  }
  return files;
}

}  // namespace traceback::loader
