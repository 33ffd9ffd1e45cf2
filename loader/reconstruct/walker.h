// Walks a thread's timeline, oldest first, and says what ran: blocks, lines, calls and returns.
//
// It can stop after any record and be set down there again: all that it knows is its stack and its
// WalkState. The same walk gives the same entries every time, so that a trace may be expanded in pieces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "loader/reconstruct/block_step.h"
#include "loader/reconstruct/call_stack.h"
#include "loader/reconstruct/module_table.h"
#include "loader/reconstruct/path.h"
#include "loader/reconstruct/timeline.h"
#include "loader/reconstruct/trace_names.h"
#include "loader/records/record_reader.h"
#include "model/chunk_cache.h"
#include "model/entry.h"

namespace traceback::loader {

// What a thread's walk needs; all immutable.
struct ThreadInput {
  const ModuleTable* modules = nullptr;
  const TraceNames* names = nullptr;
  std::vector<SegmentWords> segments;
  Timeline timeline;
};

// How the top frame's last DAG record ended: what may come next.
struct Exit {
  enum class Kind : std::uint8_t {
    Unknown,   // after a gap, or at the beginning: anything
    Signal,    // a handler begins
    Inside,    // to a successor of `block`
    Call,      // the callee's entry, or the return point if it left no records
    Return,    // the caller's return point; the frame is gone
    TailJump,  // another function's entry, or whatever follows the return of one that left no records
    Away,      // into original code
    Cut,       // stopped in the middle by a signal
    Stopped,   // hlt, ud2, int3: nothing
  };
  Kind kind = Kind::Unknown;
  bool mayLeave = false;  // Inside, but a conditional branch may also have been a tail jump
  bool thrown = false;  // Call: of what throws an exception
  std::uint32_t block = format::kNoBlock;
};

struct WalkState {
  struct Handler {
    std::size_t stackSize = 0;  // frames of the interrupted code
    Exit exit;                  // of the interrupted code
    std::uint8_t segment = 0;   // where the handler's records are
    model::RuntimeAddr pc;
    std::uint64_t position = 0;  // of the interrupted segment then, and the word there
    std::uint64_t record = 0;
    std::optional<model::Trace::Summary::HandledFault> fault = {};  // if that is what it handles
  };
  std::size_t piece = 0;
  std::size_t word = 0;  // in the piece's segment; below the piece's begin: at its begin
  Exit exit;
  std::vector<Handler> handlers;
  std::optional<Handler> lastEnded;  // that of a fault
  std::optional<model::Entry> pending;  // the last line or gap: what follows may still add to it
  std::vector<model::CodeRange> pendingCode;  // of a line that skips
  model::Ticks time;
  std::uint8_t timeSegment = 0;  // where that was read
  model::Ticks seen;  // when another thread saw this one: what is read behind that is no earlier
  std::int32_t outerDepth = -1;         // of the caller of the stack's lowest frame
  std::uint64_t nextSignal = 0;         // expected SignalBegin sequence
  bool anySignal = false;
  bool startSeen = false;               // the thread's beginning: there are no frames below the stack
  bool begun = false;
  bool died = false;                    // by a fault or a fatal signal
  // The fault in whose handler the fatal signal was raised: that line is the one to be looked at.
  std::optional<model::Trace::Summary::HandledFault> handledFault = {};
  std::uint64_t searchBudget = std::uint64_t{1} << 26;  // frames still to look at in vain (hostile input)

  // The outermost one that runs and is of a fault; null if none.
  const Handler* faultHandler() const;
};

// Damage met on the way, for the load report.
struct WalkNotes {
  RecordDamage words;
  std::uint64_t unexplainedPaths = 0;
  std::uint64_t brokenFlow = 0;      // a record that cannot follow the one before it
  std::uint64_t unknownCodes = 0;
  std::uint64_t untraceableModules = 0;  // records of modules without codes of their own
  std::uint64_t lostSignals = 0;
  // Of a later writer, and left out: records by type, Syncs by kind.
  std::map<unsigned, std::uint64_t> unknownRecords, unknownSyncs;
  std::vector<std::uint64_t> withoutMap;  // records by module
};

class Walker {
 public:
  // With `fill`, the names of what is met are looked up first; else they must be there already.
  Walker(const ThreadInput& input, TraceNames* fill)
      : m_input(input),
        m_names(*input.names),
        m_fill(fill),
        m_readers(input.segments.begin(), input.segments.end()) {}

  void restore(WalkState state, std::vector<Frame> stack);
  const WalkState& state() const { return m_state; }
  StackDifference stackDifference() { return m_stack.difference(); }

  // Goes on for at most so many records, and says how many there were; 0 at the end. Appends what is
  // certain to be final; finish() appends the rest, at the end of the walk.
  std::size_t run(std::size_t records, std::vector<model::Entry>& out);
  void finish(std::vector<model::Entry>& out);

  void setSteps(std::vector<BlockStep>* steps) { m_steps = steps; }
  // When what the Exceptions with kEntryAgain are of was thrown first: one a each of them; 0: not known.
  void setFirstThrows(std::vector<model::Ticks>* times) { m_firstThrows = times; }
  void setNotes(WalkNotes* notes) { m_notes = notes; }
  // Where the code of lines that skip goes to; the entries are counted as in `out` of run() and finish().
  void setPieces(std::vector<model::ExpandedChunk::Piece>* pieces) { m_pieces = pieces; }

 private:
  struct CutPoint {
    std::size_t block = 0;      // in the path
    std::uint32_t address = 0;  // within that block
    bool inCallee = false;      // behind all that had run of the path, and the pc is not in this function
    bool inside = false;        // within a block
  };

  // What there was of entries before a record.
  struct Shown {
    std::size_t out = 0;
    std::optional<model::Entry> pending;
  };

  // walker.cpp: records
  void takeRecord(const Record& record, const Piece& piece, RecordReader& reader);
  bool isWhereSeen(const Record& record, const Piece& piece) const;
  void takeDag(const Record& record, std::uint32_t from, std::uint32_t to, bool open, bool atEnd);
  std::optional<ResolvedDag> resolve(format::Word word);
  CutPoint locate(const ResolvedDag& dag, const Cut& cut);
  void showBlocks(const ResolvedDag& dag, const CutPoint& begin, const CutPoint& end, bool faulted);
  void showOpen(const ResolvedDag& dag, const CutPoint& begin);
  void leaveDag(const ResolvedDag& dag, const PathBlock& last);

  // walker_events.cpp: other records
  void takeEvent(const Record& record, std::uint8_t segment);
  void beginSignal(const Record& record, std::uint8_t segment);
  void endSignal(const Record& record, std::uint8_t segment);
  bool isThrower(std::uint64_t pc) const;

  // walker_calls.cpp: the call structure
  void enterHead(const ResolvedDag& dag);
  void enterPassed(const ResolvedDag& dag, const CutPoint& begin, std::size_t index);
  bool continuesInside(const ResolvedDag& dag, const Exit& exit) const;
  bool followTailJump(const ResolvedDag& dag, const Exit& exit);
  std::uint32_t stubOf(const Exit& exit) { return stubOf(m_stack.top(), exit.block); }
  std::uint32_t stubOf(const Frame& frame, std::uint32_t block);
  bool ledElsewhere(const ResolvedDag& dag, const Exit& exit);
  void enterReturnPoint(const ResolvedDag& dag, const Exit& exit);
  void enterMiddle(const ResolvedDag& dag, const Exit& exit, bool thrown);
  void enterUnknownFrame(const ResolvedDag& dag, const Exit& exit, bool entered);
  std::optional<std::size_t> findReturn(const ResolvedDag& dag);
  std::optional<std::size_t> findActivation(const ResolvedDag& dag);
  std::optional<std::size_t> findThrownInto(const ResolvedDag& dag, const Exit& exit);
  template <typename Wanted>
  std::optional<std::size_t> findFrame(Wanted wanted);
  void unwindTo(std::size_t size);
  bool leadsTo(const ResolvedDag& dag, const Exit& exit) const;
  std::string_view stubNameOf(const Frame& frame, std::uint32_t block);
  bool mayBeAbove(std::size_t index);
  bool caughtUnseen(const ResolvedDag& dag, const Exit& exit);
  void enterBehindCatch(const ResolvedDag& dag, const Exit& exit);
  void call(const ResolvedDag& dag, std::uint16_t flags, bool direct);
  void pushFrame(const ResolvedDag& dag, std::int32_t depth, bool whole);
  void leave(std::uint16_t flags);
  bool samePart(const ResolvedDag& dag, const Frame& frame) const;

  // walker_entries.cpp: entries
  void enterInlined(const BlockLine& line);
  void leaveInlined(std::size_t kept, std::uint16_t flags);
  void showLine(const BlockLine& line, std::uint32_t start, std::uint32_t last, std::uint16_t flags);
  void gap(model::GapCause cause);
  void noteReading(model::Entry& pending) const;
  void noteSeen(const Shown& before);
  void emit(model::Entry entry);  // behind what is pending
  std::optional<OriginalPlace> endOfLine() const;
  void emitException(const std::optional<OriginalPlace>& place, std::uint32_t type, std::uint16_t flags = 0);
  void flush();
  void markPending(std::uint16_t flags);
  void markUntracedCall(const Exit& exit);
  std::int32_t currentDepth() const;
  model::Entry make(model::EntryKind kind) const;
  std::uint16_t contextFlags() const;

  const ThreadInput& m_input;
  const TraceNames& m_names;
  TraceNames* m_fill;
  std::vector<RecordReader> m_readers;  // by segment
  WalkState m_state;
  CallStack m_stack;
  std::vector<model::Entry>* m_out = nullptr;
  std::vector<model::ExpandedChunk::Piece>* m_pieces = nullptr;
  std::vector<BlockStep>* m_steps = nullptr;
  std::vector<model::Ticks>* m_firstThrows = nullptr;
  WalkNotes* m_notes = nullptr;
  WalkNotes m_unusedNotes;
  DagPath m_path, m_prefix;  // kept for their memory
  std::uint16_t m_nextLineFlags = 0;
  bool m_afterGap = true;  // for the next step
};

}  // namespace traceback::loader
