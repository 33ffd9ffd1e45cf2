#include "loader/reconstruct/trace_names.h"

#include <algorithm>
#include <format>

#include "model/demangle.h"
#include "runtime/format/skip_reason.h"

namespace traceback::loader {

namespace {

// "f" of "f.cold" and "f.cold.3"; empty if the name is no such.
std::string_view nameOfWhole(std::string_view name) {
  const auto at = name.find(".cold");
  if (at == std::string_view::npos || at == 0) return {};
  const auto rest = name.substr(at + 5);
  const bool plain =
      rest.empty() || (rest[0] == '.' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
  return plain ? name.substr(0, at) : std::string_view{};
}

}  // namespace

TraceNames::TraceNames(std::shared_ptr<const ModuleTable> modules,
                       std::vector<std::shared_ptr<const LineSource>> lines)
    : m_modules(std::move(modules)),
      m_lines(std::move(lines)),
      m_perModule(m_modules->size()),
      m_inlineStacks(1) {
  m_lines.resize(m_modules->size());
  for (const auto& source : m_lines) m_hasLines.push_back(source && source->hasLines());
  for (std::uint32_t i = 0; i < m_modules->size(); ++i) {
    const auto* map = (*m_modules)[i].view();
    if (map == nullptr) continue;
    m_perModule[i].blocks.resize(map->blockCount());
    m_perModule[i].functions.resize(map->functionCount());
    findWholes(i);
  }
}

// Only parts of one function jump into the middle of each other.
MapFunction TraceNames::functionJumpedInto(const MapView& map, MapFunction part) {
  for (std::uint32_t i = 0; i < map.function(part).blockCount; ++i) {
    const auto& block = map.block(part, i);
    const bool leaves =
        block.end == format::BlockEnd::TailJump || (block.flags & format::kBlockTailBranch) != 0;
    const auto whole = leaves && block.target != 0 ? map.functionAt({block.target}) : std::nullopt;
    if (whole && *whole != part && map.function(*whole).original != block.target) return *whole;
  }
  return part;
}

// Of two unnamed functions one of which jumps into the middle of the other, the whole is the one that is
// called; if that does not tell, the larger.
void TraceNames::joinUnnamedParts(const MapView& map, std::vector<MapFunction>& wholes) {
  std::vector<bool> called(wholes.size());
  for (MapFunction i = 0; i < wholes.size(); ++i) {
    for (std::uint32_t k = 0; k < map.function(i).blockCount; ++k) {
      const auto& block = map.block(i, k);
      if (block.end != format::BlockEnd::Call) continue;
      const auto callee = map.functionAt({block.target});
      if (callee && map.function(*callee).original == block.target) called[*callee] = true;
    }
  }
  for (MapFunction i = 0; i < wholes.size(); ++i) {
    if (wholes[i] != i || !map.functionName(i).empty()) continue;
    const auto other = functionJumpedInto(map, i);
    if (other == i || !map.functionName(other).empty() || wholes[other] != other) continue;
    const bool otherIsWhole = called[other] != called[i]
                                  ? called[other]
                                  : map.function(other).originalSize > map.function(i).originalSize;
    if (otherIsWhole) {
      wholes[i] = other;
    } else {
      wholes[other] = i;
    }
  }
}

// By debug information if there is some, else by the symbol's name, if that is not one of several.
void TraceNames::findWholes(std::uint32_t module) {
  const auto& map = *(*m_modules)[module].view();
  auto& wholes = m_perModule[module].wholes;
  wholes.resize(map.functionCount());
  std::unordered_map<std::string_view, MapFunction> byName;
  for (MapFunction i = 0; i < map.functionCount(); ++i) {
    wholes[i] = i;
    const auto name = map.functionName(i);
    if (name.empty()) continue;
    if (name == kThrower) m_perModule[module].thrower = i;
    const auto [at, added] = byName.try_emplace(name, i);
    if (!added) at->second = kNoFunction;
  }
  for (MapFunction i = 0; i < map.functionCount(); ++i) {
    const auto whole = nameOfWhole(map.functionName(i));
    if (!whole.empty()) {
      const auto found = byName.find(whole);
      if (found != byName.end() && found->second != kNoFunction) {
        wholes[i] = found->second;
        continue;
      }
    }
    if (whole.empty() && !map.functionName(i).empty()) continue;
    if (!m_lines[module]) continue;
    const auto info = m_lines[module]->functionAt({map.function(i).original});
    const auto owner = info ? map.functionAt(info->start) : std::nullopt;
    if (owner && map.function(*owner).original == info->start.value) wholes[i] = *owner;
  }
  joinUnnamedParts(map, wholes);
  for (MapFunction i = 0; i < wholes.size(); ++i) {
    for (int steps = 0; steps < 8 && wholes[wholes[i]] != wholes[i]; ++steps) wholes[i] = wholes[wholes[i]];
  }
}

model::FileId TraceNames::fileId(std::string_view path) {
  if (path.empty()) return {};
  const auto [at, added] =
      m_fileIds.try_emplace(std::string(path), model::FileId{static_cast<std::uint32_t>(m_files.size())});
  if (added) m_files.push_back({.path = std::string(path)});
  return at->second;
}

model::FunctionId TraceNames::inlinedFunction(std::uint32_t module, const LineFrame& frame) {
  auto& known = m_perModule[module].inlined;
  const auto [at, added] = known.try_emplace(
      std::string(frame.function), model::FunctionId{static_cast<std::uint32_t>(m_functions.size())});
  if (!added) return at->second;
  model::Function function;
  function.module = {module};
  function.name =
      frame.function.empty() ? std::string("(inlined function)") : model::demangle(frame.function);
  function.mangledName = frame.function;
  function.start = frame.functionStart;
  m_functions.push_back(std::move(function));
  return at->second;
}

// What is not told apart by debug information is one instance.
InlinedInstance TraceNames::inlinedInstance(model::FunctionId function, std::uint64_t instance) {
  const auto next = static_cast<InlinedInstance>(m_instances.size() + 1);
  return m_instances.try_emplace({function, instance}, next).first->second;
}

InlineStackId TraceNames::inlineStackId(std::uint32_t module, const LineRange& range) {
  if (range.frames.size() < 2) return 0;
  std::vector<InlinedFunction> stack;
  for (std::size_t i = range.frames.size() - 1; i-- > 0;) {
    const auto function = inlinedFunction(module, range.frames[i]);
    const LineFrame& caller = range.frames[i + 1];
    stack.push_back({.function = function,
                     .instance = inlinedInstance(function, range.frames[i].instance),
                     .file = fileId(caller.file),
                     .line = caller.line});
  }
  const auto [at, added] = m_inlineIds.try_emplace(stack, static_cast<InlineStackId>(m_inlineStacks.size()));
  if (added) m_inlineStacks.push_back(stack);
  return at->second;
}

// Addresses without a line belong to the line before them in the block, or else to the first behind them.
std::vector<BlockLine> TraceNames::resolveBlock(std::uint32_t module, const format::BlockEntry& block) {
  const std::uint32_t end = block.start + block.size;
  std::vector<BlockLine> result;
  if (m_lines[module]) {
    for (const auto& range : m_lines[module]->rangesIn({block.start}, {end})) {
      const auto from = std::max<std::uint64_t>(range.start.value, block.start);
      const auto to = std::min<std::uint64_t>(range.end.value, end);
      if (from >= to || range.frames.empty() || range.frames.front().line == 0) continue;
      if (!result.empty() && from < result.back().end) continue;
      BlockLine line{.start = static_cast<std::uint32_t>(from),
                     .end = static_cast<std::uint32_t>(to),
                     .line = range.frames.front().line,
                     .file = fileId(range.frames.front().file),
                     .inlined = inlineStackId(module, range)};
      auto* before = result.empty() ? nullptr : &result.back();
      if (before != nullptr && before->line == line.line && before->file == line.file &&
          before->inlined == line.inlined) {
        before->end = line.end;
      } else {
        if (before != nullptr) before->end = line.start;
        result.push_back(line);
      }
    }
  }
  if (result.empty()) result.push_back({});
  result.front().start = block.start;
  result.back().end = end;
  return result;
}

void TraceNames::needBlock(std::uint32_t module, MapFunction function, std::uint32_t block) {
  const auto& map = *(*m_modules)[module].view();
  auto& slot = m_perModule[module].blocks[map.function(function).firstBlock + block];
  if (slot != 0) return;
  const auto lines = resolveBlock(module, map.block(function, block));
  m_ranges.push_back({.first = static_cast<std::uint32_t>(m_blockLines.size()),
                      .count = static_cast<std::uint32_t>(lines.size())});
  m_blockLines.insert(m_blockLines.end(), lines.begin(), lines.end());
  slot = static_cast<std::uint32_t>(m_ranges.size());
}

std::span<const BlockLine> TraceNames::linesOf(std::uint32_t module, MapFunction function,
                                               std::uint32_t block) const {
  const auto& map = *(*m_modules)[module].view();
  const auto slot = m_perModule[module].blocks[map.function(function).firstBlock + block];
  if (slot == 0) return {};
  const auto& range = m_ranges[slot - 1];
  return std::span(m_blockLines).subspan(range.first, range.count);
}

void TraceNames::needFunction(std::uint32_t module, MapFunction function) {
  const auto& map = *(*m_modules)[module].view();
  auto& perModule = m_perModule[module];
  const auto whole = perModule.wholes[function];
  auto& id = perModule.functions[whole];
  if (!id.valid()) {
    const auto& entry = map.function(whole);
    model::Function result;
    result.module = {module};
    result.start = {entry.original};
    result.size = entry.originalSize;
    result.mangledName = map.functionName(whole);
    if (entry.copy == 0 && entry.skipReason != 0)
      result.untraced = format::skipReasonSentence(static_cast<format::SkipReason>(entry.skipReason));
    if (m_lines[module]) {
      if (const auto info = m_lines[module]->functionAt({entry.original})) {
        if (result.mangledName.empty() && info->start == result.start) result.mangledName = info->name;
        result.file = fileId(info->file);
        result.line = info->line;
      }
    }
    result.name = result.mangledName.empty() ? std::format("{:#x}", entry.original)
                                             : model::demangle(result.mangledName);
    id = {static_cast<std::uint32_t>(m_functions.size())};
    m_functions.push_back(std::move(result));
  }
  perModule.functions[function] = id;
}

void TraceNames::needStub(std::uint32_t module, std::uint32_t address) {
  const auto [at, added] = m_perModule[module].stubs.try_emplace(address);
  if (!added || !m_lines[module]) return;
  at->second.name = m_lines[module]->stubAt({address});
  if (at->second.name.empty()) return;
  model::Function function;
  function.mangledName = at->second.name;
  function.name = model::demangle(function.mangledName);
  function.untraced = "it is in another file, which left no records of it";
  at->second.function = {static_cast<std::uint32_t>(m_functions.size())};
  m_functions.push_back(std::move(function));
}

model::FunctionId TraceNames::stubFunction(std::uint32_t module, std::uint32_t address) const {
  const auto& stubs = m_perModule[module].stubs;
  const auto found = stubs.find(address);
  return found != stubs.end() ? found->second.function : model::FunctionId{};
}

std::string_view TraceNames::stubName(std::uint32_t module, std::uint32_t address) const {
  const auto& stubs = m_perModule[module].stubs;
  const auto found = stubs.find(address);
  return found != stubs.end() ? std::string_view(found->second.name) : std::string_view();
}

model::FunctionId TraceNames::functionOf(std::uint32_t module, MapFunction function) const {
  return m_perModule[module].functions[function];
}

MapFunction TraceNames::wholeOf(std::uint32_t module, MapFunction function) const {
  return m_perModule[module].wholes[function];
}

// Anew each time: what was read since may tell more.
void TraceNames::addChecksums() {
  for (model::SourceFile& file : m_files) file.checksums.clear();
  for (std::uint32_t module = 0; module < m_lines.size(); ++module) {
    if (!m_lines[module]) continue;
    for (const auto& [path, md5] : m_lines[module]->checksums()) {
      const auto known = m_fileIds.find(std::string(path));
      if (known != m_fileIds.end()) m_files[known->second.value].checksums.push_back({{module}, md5});
    }
  }
}

std::string_view TraceNames::linkageName(model::FunctionId function) const {
  return function.value < m_functions.size() ? std::string_view(m_functions[function.value].mangledName)
                                             : std::string_view();
}

bool TraceNames::isThrower(std::uint32_t module, MapFunction function) const {
  return m_perModule[module].thrower == function;
}

void TraceNames::needExceptionType(const std::string& name) {
  if (name.empty() || !m_exceptionTypeNumbers.emplace(name, m_exceptionTypes.size() + 1).second) return;
  m_exceptionTypes.push_back(model::demangleType(name));
}

std::uint32_t TraceNames::exceptionType(const std::string& name) const {
  const auto known = m_exceptionTypeNumbers.find(name);
  return known == m_exceptionTypeNumbers.end() ? 0 : known->second;
}

void TraceNames::freeze(model::Trace& trace) {
  addChecksums();
  trace.functions = std::move(m_functions);
  trace.files = std::move(m_files);
  trace.exceptionTypes = std::move(m_exceptionTypes);
  m_lines.clear();
  m_inlineIds.clear();
  m_instances.clear();
  m_fileIds.clear();
  for (auto& module : m_perModule) module.inlined.clear();
}

}  // namespace traceback::loader
