// How an entry reads in the trace pane: its columns, and the badges that say what is special about it.
#pragma once

#include <QList>
#include <QMetaType>
#include <QString>
#include <vector>

#include "model/call_tree.h"
#include "model/trace.h"
#include "views/source/source_cache.h"

namespace traceback::views {

// Columns and roles that both trace models share.
enum TraceColumn {
  kWhatColumn,
  kPlaceColumn,
  kFunctionColumn,
  kNoteColumn,
  kThreadColumn,
  kTimeColumn,
  kModuleColumn,
  kFileColumn,
  kDepthColumn,
  kTraceColumnCount
};

enum TraceRole {
  kEntryRole = Qt::UserRole,  // EntryIndex as qulonglong; invalid for a row that is no entry
  kBadgesRole,                // QList<Badge>, in the note column
  kStyleRole,                 // RowStyle
  kDepthRole,                 // int
  kOrderRole,  // model::Order to the current entry as int, in lists of other threads; else invalid
  kDetailRole,                // QString: dim text after the main one, in the first column
};

// How a row is drawn.
enum class RowStyle : std::uint8_t { Code, Words, Call, Quiet, More, Folded };

struct Badge {
  enum Kind : std::uint8_t { Fault, Signal, Exception, Gap, Untraced, Info } kind = Info;
  QString text;
  QString explanation;

  friend bool operator==(const Badge&, const Badge&) = default;
};

// How a row reads that stands for rounds of a loop.
struct RepeatText {
  QString what, detail;
};
// "12 entries hidden", of a row that stands for what the filter leaves out.
QString hiddenText(std::uint64_t entries);

// Whether the entry is where older records were overwritten, and samples of such are known.
bool leadsToHistory(const model::Trace& trace, const model::Entry& entry);

// The name of a badge's icon.
QString badgeIcon(Badge::Kind kind);

// Reads entries of one trace; the trace and the cache outlive it.
class EntryText {
 public:
  EntryText(const model::Trace& trace, SourceCache& sources) : m_trace(&trace), m_sources(&sources) {}

  // `call` is the span if the row stands for a whole call, whose entry may then be any that it begins with.
  QString what(const model::Entry& entry, const model::CallSpan* call) const;
  QString detail(const model::CallSpan& call) const;
  // Any column but the first.
  QString cell(int column, const model::Entry& entry, const model::CallSpan* call,
               model::ThreadIndex thread) const;
  // Of the rows of one round: lines, and calls by their Call entries. `atLeast`: it may go on.
  RepeatText repeated(const std::vector<model::Entry>& round, std::uint64_t times, bool atLeast) const;
  // When, at the latest clock reading before it; empty if there is none.
  QString time(const model::Entry& entry) const;
  QString place(const model::Entry& entry, const model::CallSpan* call) const;
  QString function(const model::Entry& entry, const model::CallSpan* call) const;
  QList<Badge> badges(const model::Entry& entry, const model::CallSpan* call) const;
  RowStyle style(const model::Entry& entry, const model::CallSpan* call) const;
  QString toolTip(const model::Entry& entry, const model::CallSpan* call) const;
  // All of it in one sentence, for a screen reader.
  QString spoken(const model::Entry& entry, const model::CallSpan* call) const;

 private:
  const model::Trace* m_trace;
  SourceCache* m_sources;
};

}  // namespace traceback::views

Q_DECLARE_METATYPE(traceback::views::Badge)
