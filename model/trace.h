// A trace: what a snap says its threads did. Immutable once built, and lazy: entries are expanded from
// records a chunk at a time, when somebody looks, and only an index of the chunks is kept.
//
// Thread rules: everything const may be called from any thread at once; what was expanded last is kept in a
// small cache. Positions are EntryIndex, from 0 (oldest) to entryCount() - 1.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/chunk_cache.h"
#include "model/entry.h"
#include "model/history.h"
#include "model/ids.h"
#include "model/least_index.h"
#include "model/load_report.h"
#include "model/source_file.h"
#include "model/thread_times.h"

namespace traceback::model {

struct Module {
  std::string path;     // of the original file, as recorded
  std::string name;     // its last part
  std::string buildId;  // hex, may be empty
  LoadBias bias;
  VirtAddr start, end;
  bool hasMap = true;     // without one its records cannot be read
  bool hasLines = false;  // debug information was found
};

struct Function {
  ModuleId module;
  std::string name;         // demangled; "0x1234" if nothing names it
  std::string mangledName;  // as in the symbol table, may be empty
  VirtAddr start;
  std::uint64_t size = 0;
  FileId file;  // where it is defined, if known
  std::uint32_t line = 0;
  std::string untraced =
      {};  // why calls of it leave no records, as a sentence without a full stop; empty if they do
};

// Turns a chunk of a thread's records into entries. Implemented by the loader; must be thread-safe.
class EntrySource {
 public:
  virtual ~EntrySource() = default;
  virtual std::size_t chunkCount() const = 0;
  // All entries of a chunk, oldest first, with final depths. Gives the same answer every time.
  virtual ExpandedChunk expand(std::size_t chunk) const = 0;
};

// What is kept of a chunk. summarise() makes it.
struct ChunkSummary {
  EntryIndex firstEntry = 0;
  std::uint32_t entryCount = 0;
  std::int32_t leastLineDepth = INT32_MAX;  // over its steppable entries; INT32_MAX if it has none
  std::int32_t leastEdgeDepth = INT32_MAX;  // edgeDepth() over all its entries
};

// How far out a reader of an entry sees: of a Call or Return the depth of the caller, for they bound what is
// in the callee; of a steppable entry its own depth; INT32_MAX of a Sync. The entries of one call at depth d
// are thus a longest run with edge depths of d and more, and the Return that ends it.
std::int32_t edgeDepth(const Entry& entry);
ChunkSummary summarise(EntryIndex firstEntry, std::span<const Entry> entries);

class ThreadTrace {
 public:
  struct Info {
    std::uint32_t tid = 0;
    std::string name;
    bool atFault = false;
    bool ended = false;
    // The entry at which it faulted, if it did; of an exception that nobody caught, the Exception.
    std::optional<EntryIndex> fault;
    // The line that it was about at when another one met its fatal signal, if that is known.
    std::optional<EntryIndex> otherFault = {};
    std::uint64_t recordCount = 0;
    // When the snap was made: the system call that it was in, by its number, and the thread that it waited
    // for.
    std::optional<std::uint32_t> systemCall;
    struct Wait {
      std::uint32_t tid = 0;
      bool forEnd = false;  // of that thread; else for a lock that it holds
      RuntimeAddr lock = {};  // where that is
    };
    std::optional<Wait> waitsFor;
    std::shared_ptr<const ThreadHistory> history;  // null if none was kept, or there is nothing before
  };
  // Two for each of a few places looked at by turns: a cursor, its call tree, its neighbours.
  static constexpr std::size_t kCachedChunks = 16;
  // Without a cache to share it has one of its own, of kCachedChunks.
  ThreadTrace(Info info, std::shared_ptr<const EntrySource> source, std::vector<ChunkSummary> chunks,
              std::shared_ptr<ChunkCache> cache = nullptr, ThreadTimes times = {});

  const Info& info() const { return m_info; }
  const ThreadTimes& times() const { return m_times; }
  EntryIndex entryCount() const;
  Entry entry(EntryIndex index) const;  // a Gap of unknown cause if index >= entryCount()
  std::vector<Entry> entries(EntryIndex first, std::size_t count) const;  // fewer at the end
  // The instructions that a Line stands for, in their order; empty of other entries, and without an address.
  std::vector<CodeRange> code(EntryIndex index) const;
  // Whether an instruction at that address is one of these; `entry` is the one at `index`.
  bool ranIn(EntryIndex index, const Entry& entry, VirtAddr address) const;
  std::span<const ChunkSummary> chunks() const { return m_chunks; }
  std::size_t chunkOf(EntryIndex index) const;

  // The nearest steppable entry (stepping.h) before or after `from` whose depth is at most `depth`.
  std::optional<EntryIndex> nextAtMost(EntryIndex from, std::int32_t depth) const;
  std::optional<EntryIndex> previousAtMost(EntryIndex from, std::int32_t depth) const;
  // The nearest entry of any kind before or after `from` whose edgeDepth() is at most `depth`.
  std::optional<EntryIndex> nextEdge(EntryIndex from, std::int32_t depth) const;
  std::optional<EntryIndex> previousEdge(EntryIndex from, std::int32_t depth) const;
  // The least edgeDepth() and the least depth of a steppable entry; INT32_MAX if there is none.
  std::int32_t leastEdgeDepth() const { return m_edges.least(); }
  std::int32_t leastLineDepth() const { return m_lines.least(); }

 private:
  using DepthOf = std::int32_t (*)(const Entry&);
  ChunkCache::Chunk chunk(std::size_t index) const;
  std::optional<EntryIndex> next(EntryIndex from, std::int32_t depth, const LeastIndex& index,
                                 DepthOf depthOf) const;
  std::optional<EntryIndex> previous(EntryIndex from, std::int32_t depth, const LeastIndex& index,
                                     DepthOf depthOf) const;

  Info m_info;
  std::shared_ptr<ChunkCache> m_cache;
  std::uint64_t m_owner = ChunkCache::newOwner();
  std::shared_ptr<const EntrySource> m_source;
  std::vector<ChunkSummary> m_chunks;
  ThreadTimes m_times;
  LeastIndex m_lines, m_edges;  // over the chunks' leastLineDepth and leastEdgeDepth
};

enum class TraceReason : std::uint8_t { Unknown, Fault, Abort, UserRequest, Recovered, Api, Hang, Policy };

class Trace {
 public:
  struct Summary {
    TraceReason reason = TraceReason::Unknown;
    std::uint32_t signal = 0;
    std::uint32_t signalCode = 0;
    RuntimeAddr faultAddress;
    // A fault that the program's own handler met first.
    struct HandledFault {
      enum class Then : std::uint8_t {
        Raised,  // the handler raised the summary's `signal`
        EndedProcess,  // by itself
        Runs,  // it still runs, of whatever the process was snapped for
      };
      std::uint32_t signal = 0;
      std::uint32_t code = 0;
      RuntimeAddr address;
      Then then = Then::Raised;
      ThreadIndex thread = {};
    };
    std::optional<HandledFault> handledFault = {};
    std::uint32_t faultSignal() const {
      return handledFault ? handledFault->signal : signal;
    }  // of what is shown
    // The type of the exception that nobody caught, for which the process was aborted; empty if it is not
    // known.
    std::optional<std::string> uncaught = {};
    std::string uncaughtMessage = {};  // what() of that; empty if it is not known
    // What the C library said when it aborted the process, as "prog: a.c:3: f: Assertion `n > 0' failed."; or
    // empty.
    std::string abortMessage = {};
    std::string program;  // as the user named it
    std::uint32_t pid = 0;
    std::string occasion = {};  // why a process was snapped that went on, in words; empty if that is not said
    std::string host;
    Nanoseconds when;
    std::string commandLine;
    std::string redacted = {};  // what the policy kept out of the snap, in words; empty if nothing
    // The processes that were snapped together with this one, itself included.
    struct GroupMember {
      std::uint32_t pid = 0;
      std::string program;
      std::string snap;  // its path when it was made, or its name alone
    };
    struct Group {
      std::string name;
      std::uint32_t cause = 0;  // pid of the one that broke down; 0: somebody asked for it
      std::uint32_t leftOut = 0;  // further members, that were not snapped
      std::vector<GroupMember> members;
    };
    std::optional<Group> group = {};
  };

  Summary summary;
  std::vector<Module> modules;
  std::vector<Function> functions;
  std::vector<SourceFile> files;
  std::vector<std::string> exceptionTypes;
  std::unordered_map<std::uint64_t, std::string> thrownTexts;  // by Entry::time
  struct ThrownAgain {
    TracePlace at, first;
  };
  std::vector<ThrownAgain> thrownAgain;  // ascending
  std::vector<std::shared_ptr<const ThreadTrace>> threads;  // the one at fault first, then by tid
  LoadReport report;

  const Module* module(ModuleId id) const;  // null if none
  const Function* function(FunctionId id) const;
  const SourceFile* file(FileId id) const;
  // The type of an Exception of that detail, as people write it ("std::out_of_range"); empty if that is not
  // known. Of a type with a long name that is its beginning.
  std::string_view exceptionType(std::uint32_t detail) const;
  // What an Exception said as it was thrown; empty if it said no more than its type, or that is not known: it
  // is of the last ones of a process, and where it is known how they say it.
  std::string_view thrownText(const Entry& exception) const;
  std::string_view thrownText(Ticks thrown, std::uint32_t type) const;  // by its record's time and detail
  // Where an Exception was thrown first that is thrown again there, by whichever thread; nothing if that is
  // not in the trace, or it was made without being thrown.
  std::optional<TracePlace> firstThrow(TracePlace again) const;
  // Of the exception that nobody caught, if it had been thrown before.
  std::optional<TracePlace> firstThrowOfFault() const;
  // A time stamp as wall-clock time, by the clock pairs of the process; nothing if they are missing.
  std::optional<Nanoseconds> wallClock(Ticks time) const;

  struct ClockPair {
    Ticks ticks;
    Nanoseconds realtime;
  };
  std::optional<ClockPair> clockStart, clockEnd;
};

}  // namespace traceback::model
