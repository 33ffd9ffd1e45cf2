// The order in which a thread wrote its records, across the segments of its ring.
//
// The records of a signal handler are in a segment of their own (record.h: SignalBegin says where they
// belong). A timeline is the list of stretches of words, oldest first, in which every handler stands where
// it interrupted, and the interrupted record is divided at the interruption.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "loader/ring/ring_view.h"
#include "model/ids.h"
#include "model/load_report.h"
#include "runtime/format/record.h"

namespace traceback::loader {

// Where an interruption divided a DAG record.
struct Cut {
  model::RuntimeAddr pc;
  format::Word record = 0;  // the word as it then stood
  bool faulted = false;     // the instruction at pc was begun and faulted; else pc is the next to run
  bool fault = false;       // this is the thread's end by a fault
};

struct Piece {
  static constexpr std::uint32_t kNoCut = 0xFFFF'FFFF;
  std::size_t begin = 0, end = 0;  // words [begin, end) of the segment
  std::uint32_t from = kNoCut;  // of the first record, what lies before this cut was in an earlier piece
  std::uint32_t to = kNoCut;  // of the last record, what lies behind this cut is not in this piece
  std::uint8_t segment = 0;
  // Its first record is a SignalBegin once more (kSignalContinued), of a handler whose beginning is
  // overwritten. All others of that kind say nothing new.
  bool beginsLate = false;
};

struct Timeline {
  enum class Start : std::uint8_t {
    Whole,        // nothing was before
    Overwritten,  // there was more before
    NotRead,      // there is more before, which keepNewest() left out
  };
  // Where another thread, having met a fatal signal, saw this one: in the record that this word is of.
  struct Seen {
    std::uint8_t segment = 0;
    std::size_t word = 0;
    model::Ticks time;
  };
  std::vector<Piece> pieces;
  std::vector<Cut> cuts;
  std::optional<Seen> seen;
  Start start = Start::Whole;
  std::uint32_t pid = 0;  // as its own signals name their sender
  bool atFault = false;  // the process ended by a fault of this thread
  bool endsOpen = false;  // nothing says how far the last DAG record's path went
};

// How a thread ended, as far as others than its ring know.
struct ThreadEndState {
  std::optional<model::RuntimeAddr> pc;  // where it stood at the snap
  bool faulted = false;  // and its instruction there faulted
  bool atFault = false;  // the process's fault is this thread's
  // Of the process's fault; nothing if there was none. Where others saw the thread earlier, they met another.
  std::optional<model::Ticks> faultTime;
};

// Whether the instruction at the pc of such a signal was begun and faulted, as opposed to not yet run.
bool isFaultOfInstruction(std::uint32_t signal, std::int32_t code);

// Leaves out all but about the newest so many words; those of handlers, which are few, do not count.
void keepNewest(Timeline& timeline, const std::vector<SegmentWords>& segments, std::uint64_t words);

Timeline buildTimeline(const RingView& ring, const ThreadEndState& end, const std::string& thread,
                       model::LoadReport& report);

}  // namespace traceback::loader
