// The modules of the traced process: whose a code is, whose an address is, and their maps.
//
// Built once, then immutable and usable from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loader/map/map_file.h"
#include "model/ids.h"
#include "runtime/format/process.h"
#include "runtime/format/record.h"

namespace traceback::loader {

struct LoadedModule {
  std::string path;  // of the file that was loaded
  model::LoadBias bias;
  model::RuntimeAddr start, end;
  MapId mapId{};
  std::uint32_t codeBase = 0, codeSpan = 0;
  bool unloaded = false;
  std::shared_ptr<const LoadedMap> map;  // null if missing

  const MapView* view() const { return map ? &map->view : nullptr; }
};

LoadedModule moduleFrom(const format::ProcessModule& module);

// A DAG record resolved to its DAG. `map` is null if the module's map is missing.
struct ResolvedDag {
  std::uint32_t module = 0;
  const MapView* map = nullptr;
  MapDag dag;
  std::uint32_t path = 0;

  // The same record, where it goes on in another function.
  ResolvedDag in(MapFunction function) const {
    ResolvedDag result = *this;
    result.dag.function = function;
    return result;
  }
};

struct OriginalPlace {
  std::uint32_t module = 0;
  model::VirtAddr address;
  MapFunction function = 0;  // valid if inCopy
  bool inCopy = false;       // the address was in a copy and has been translated
  bool fixed = false;        // OriginalAddress::fixed
  bool first = false;        // OriginalAddress::first
};

class ModuleTable {
 public:
  explicit ModuleTable(std::vector<LoadedModule> modules);

  std::size_t size() const { return m_modules.size(); }
  const LoadedModule& operator[](std::size_t index) const { return m_modules[index]; }

  // The module that owns a code; of two, the one that is still loaded.
  std::optional<std::uint32_t> ownerOf(format::Word code) const;
  // Nothing if no module owns the code, or its map has no such DAG.
  std::optional<ResolvedDag> resolve(format::Word dagRecord) const;
  std::optional<std::uint32_t> moduleAt(model::RuntimeAddr address) const;
  // Where an address in the process is in an original file.
  std::optional<OriginalPlace> original(model::RuntimeAddr address) const;

 private:
  std::vector<LoadedModule> m_modules;
  std::vector<std::uint32_t> m_byCode;     // with a span of their own, by codeBase
  std::vector<std::uint32_t> m_byAddress;  // by start
};

}  // namespace traceback::loader
