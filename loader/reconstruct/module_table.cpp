#include "loader/reconstruct/module_table.h"

#include <algorithm>
#include <tuple>

namespace traceback::loader {

LoadedModule moduleFrom(const format::ProcessModule& module) {
  LoadedModule result;
  result.path = paddedString(module.path);
  result.bias = {module.loadBias};
  result.start = {module.start};
  result.end = {module.end};
  std::ranges::copy(module.mapId, result.mapId.begin());
  // What was not bound ran untraced; it owns no codes.
  if (module.bindState == static_cast<std::uint32_t>(format::BindState::Bound)) {
    result.codeBase = module.codeBase;
    result.codeSpan = module.codeSpan;
  }
  result.unloaded = module.unloaded != 0;
  return result;
}

ModuleTable::ModuleTable(std::vector<LoadedModule> modules) : m_modules(std::move(modules)) {
  for (std::uint32_t i = 0; i < m_modules.size(); ++i) {
    if (m_modules[i].codeSpan != 0) m_byCode.push_back(i);
    if (m_modules[i].start < m_modules[i].end) m_byAddress.push_back(i);
  }
  // Where two overlap, one was loaded after the other was unloaded: the living one comes last and is found.
  std::ranges::sort(m_byCode, {}, [&](std::uint32_t i) {
    return std::tuple(m_modules[i].codeBase, !m_modules[i].unloaded, i);
  });
  std::ranges::sort(m_byAddress, {}, [&](std::uint32_t i) {
    return std::tuple(m_modules[i].start, !m_modules[i].unloaded, i);
  });
}

std::optional<std::uint32_t> ModuleTable::ownerOf(format::Word code) const {
  auto at =
      std::ranges::upper_bound(m_byCode, code, {}, [&](std::uint32_t i) { return m_modules[i].codeBase; });
  while (at != m_byCode.begin()) {
    --at;
    const auto& module = m_modules[*at];
    if (code - module.codeBase < module.codeSpan) return *at;
  }
  return std::nullopt;
}

std::optional<ResolvedDag> ModuleTable::resolve(format::Word dagRecord) const {
  const auto code = format::codeOf(dagRecord);
  const auto owner = ownerOf(code);
  if (!owner) return std::nullopt;
  const auto* map = m_modules[*owner].view();
  ResolvedDag result{.module = *owner, .map = map, .dag = {}, .path = 0};
  if (map == nullptr) return result;
  const auto local = code - m_modules[*owner].codeBase;
  const auto dag = map->dagOf(local);
  if (!dag) return std::nullopt;
  result.dag = *dag;
  result.path = local - dag->entry.code;
  return result;
}

std::optional<std::uint32_t> ModuleTable::moduleAt(model::RuntimeAddr address) const {
  auto at =
      std::ranges::upper_bound(m_byAddress, address, {}, [&](std::uint32_t i) { return m_modules[i].start; });
  while (at != m_byAddress.begin()) {
    --at;
    if (address < m_modules[*at].end) return *at;
  }
  return std::nullopt;
}

std::optional<OriginalPlace> ModuleTable::original(model::RuntimeAddr address) const {
  const auto index = moduleAt(address);
  if (!index) return std::nullopt;
  const auto& module = m_modules[*index];
  OriginalPlace place{.module = *index,
                      .address = model::toLinkTime(address, module.bias),
                      .function = 0,
                      .inCopy = false,
                      .fixed = false,
                      .first = false};
  const auto* map = module.view();
  if (map == nullptr) return place;
  if (const auto function = map->functionOfCopy(place.address)) {
    if (const auto original = map->originalOf(place.address)) {
      place.address = original->address;
      place.fixed = original->fixed;
      place.first = original->first;
      place.function = *function;
      place.inCopy = true;
    }
  }
  return place;
}

}  // namespace traceback::loader
