// The calls around one entry of a thread after the other: what activeCalls() says of each, for no more than
// what the calls and returns between them cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/entry.h"
#include "model/ids.h"

namespace traceback::model {

class ThreadTrace;

class RunningStack {
 public:
  struct Level {
    FunctionId function;  // none if the trace does not tell
    bool looked = false;  // for the function
    std::uint64_t serial = 0;  // no other level has it, so that below two equal ones all is equal
  };

  // Before the first entry, and wherever one goes on somewhere else.
  void start(const ThreadTrace& thread);
  // Goes on to the next entry.
  void enter(const Entry& entry);
  // Goes back to before the first of the entries [begin, begin + entries.size()); those that follow them were
  // the last ones that this was done for, or it is the first time since start(). enter() goes on from there.
  void goBackTo(EntryIndex begin, std::span<const Entry> entries);

  // From the outermost call to the innermost: those around the entry that was entered last, whose index this
  // is.
  std::span<const Level> levels(EntryIndex at);

 private:
  std::size_t sizeAt(std::int64_t depth) const;
  void truncate(std::size_t size);
  void push(Level level);
  void standAt(const Entry& entry);
  void look(EntryIndex at);

  const ThreadTrace* m_thread = nullptr;
  std::int64_t m_outermost = 0;  // depth of the first level
  bool m_any = false;
  std::vector<Level> m_levels;
  std::vector<Level> m_atBegin;  // of goBackTo()
  std::size_t m_unknown = 0;  // levels that were not looked for
  Entry m_last;  // a Call or Return that counts from the next entry on
  std::uint64_t m_serial = 0;
};

}  // namespace traceback::model
