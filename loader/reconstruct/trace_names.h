// The functions, files and lines of a trace, each interned once.
//
// Filled while the trace is built, by one thread; after freeze() immutable and usable from any. A copy made
// before that can be filled on: what both have, they number alike.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "loader/reconstruct/inlined_calls.h"
#include "loader/reconstruct/module_table.h"
#include "loader/symbols/line_source.h"
#include "model/trace.h"

namespace traceback::loader {

// What the compiler inlined at a place, outermost first. Number 0 is "none".
using InlineStackId = std::uint32_t;

// A stretch of a block with one line.
struct BlockLine {
  std::uint32_t start = 0, end = 0;  // link-time addresses
  std::uint32_t line = 0;            // 0: none
  model::FileId file;
  InlineStackId inlined = 0;
};

// What throws the exceptions of C++ (Itanium C++ ABI, 2.4.3).
inline constexpr std::string_view kThrower = "__cxa_throw";
// And what throws one again that was kept: std::rethrow_exception() of GCC's library and of LLVM's, and what
// the latter calls.
inline bool isRethrower(std::string_view linkageName) {
  return linkageName.starts_with("_ZSt17rethrow_exception") ||
         linkageName == "__cxa_rethrow_primary_exception";
}

class TraceNames {
 public:
  // A line source a module, in the table's order; each may be null.
  TraceNames(std::shared_ptr<const ModuleTable> modules,
             std::vector<std::shared_ptr<const LineSource>> lines);

  // Looks up what the accessors below will be asked for.
  void needBlock(std::uint32_t module, MapFunction function, std::uint32_t block);
  void needFunction(std::uint32_t module, MapFunction function);
  // Of a call or jump through a stub at that address, to a function of another file.
  void needStub(std::uint32_t module, std::uint32_t address);
  void needExceptionType(const std::string& name);

  // The lines of a block, in address order, without holes; at least one.
  std::span<const BlockLine> linesOf(std::uint32_t module, MapFunction function, std::uint32_t block) const;
  // The function for people: of a part that the compiler moved away (f.cold), the function it is part of.
  model::FunctionId functionOf(std::uint32_t module, MapFunction function) const;
  // What a stub leads to; none if it is not known. And its linkage name.
  model::FunctionId stubFunction(std::uint32_t module, std::uint32_t address) const;
  std::string_view stubName(std::uint32_t module, std::uint32_t address) const;
  // The detail that Trace::exceptionType() takes; 0 without a name.
  std::uint32_t exceptionType(const std::string& name) const;
  // As the symbol table has it; empty if it has none. Not once frozen.
  std::string_view linkageName(model::FunctionId function) const;
  // The map function of which this one is a part; itself if it is whole.
  MapFunction wholeOf(std::uint32_t module, MapFunction function) const;
  // Whether it is its module's own kThrower.
  bool isThrower(std::uint32_t module, MapFunction function) const;
  std::span<const InlinedFunction> inlineStack(InlineStackId id) const { return m_inlineStacks[id]; }
  bool hasLines(std::uint32_t module) const { return m_hasLines[module]; }

  // Ends the filling, and hands over the tables of functions, files and types.
  void freeze(model::Trace& trace);

 private:
  static constexpr MapFunction kNoFunction = 0xFFFF'FFFF;
  struct PerModule {
    std::vector<std::uint32_t> blocks;  // by block of the map: 1 + index in m_ranges; 0: not yet
    std::vector<model::FunctionId> functions;  // by function of the map
    std::vector<MapFunction> wholes;  // by function of the map
    MapFunction thrower = kNoFunction;
    std::unordered_map<std::string, model::FunctionId> inlined;  // by name
    struct Stub {
      model::FunctionId function;
      std::string name;
    };
    std::unordered_map<std::uint32_t, Stub> stubs;  // by address
  };
  struct Range {
    std::uint32_t first, count;  // in m_blockLines
  };

  static MapFunction functionJumpedInto(const MapView& map, MapFunction part);
  static void joinUnnamedParts(const MapView& map, std::vector<MapFunction>& wholes);
  void findWholes(std::uint32_t module);
  std::vector<BlockLine> resolveBlock(std::uint32_t module, const format::BlockEntry& block);
  model::FunctionId inlinedFunction(std::uint32_t module, const LineFrame& frame);
  InlinedInstance inlinedInstance(model::FunctionId function, std::uint64_t instance);
  model::FileId fileId(std::string_view path);
  void addChecksums();
  InlineStackId inlineStackId(std::uint32_t module, const LineRange& range);

  std::shared_ptr<const ModuleTable> m_modules;
  std::vector<std::shared_ptr<const LineSource>> m_lines;  // gone once frozen
  std::vector<bool> m_hasLines;
  std::vector<PerModule> m_perModule;
  std::vector<Range> m_ranges;
  std::vector<BlockLine> m_blockLines;
  std::vector<std::vector<InlinedFunction>> m_inlineStacks;
  std::map<std::vector<InlinedFunction>, InlineStackId> m_inlineIds;
  std::map<std::pair<model::FunctionId, std::uint64_t>, InlinedInstance> m_instances;
  std::vector<model::Function> m_functions;
  std::vector<model::SourceFile> m_files;
  std::unordered_map<std::string, model::FileId> m_fileIds;
  std::vector<std::string> m_exceptionTypes;
  std::unordered_map<std::string, std::uint32_t> m_exceptionTypeNumbers;
};

}  // namespace traceback::loader
