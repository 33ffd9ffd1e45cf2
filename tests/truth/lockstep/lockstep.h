// An original and its instrumented file, stepped side by side: at every original instruction that is executed
// the same address, registers, flags, floating-point state and stack; and, unwound from outside, the same
// frames at each place of the copies.
//
// Registers and flags that nothing needs any more may differ, for probes use them: what is needed the second
// decoder says. What is dead by the calling conventions where code that is not stepped comes back, or below
// the stack, is made the same in both, so that nothing that is left there can be taken for a difference. It
// goes on through signals; other threads and processes are not followed.
//
// A handler of the instrumented program is called by the runtime, so its frames lie somewhat lower than the
// original's, and it returns to the runtime.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tests/truth/lockstep/frames.h"
#include "tests/truth/lockstep/same_values.h"
#include "tests/truth/lockstep/stepped_process.h"
#include "tests/truth/second_decoder/copy_checker.h"

namespace traceback::truth {

struct LockstepOptions {
  std::uint64_t limit = 100'000'000;  // of compared instructions; then it ends, and all was right so far
  bool unwind = false;
};

struct LockstepResult {
  std::uint64_t instructions = 0, inCopies = 0, outside = 0, unwound = 0;
  bool cutShort = false;
  std::uint64_t handlers = 0;  // that were entered
  int status = 0;  // of both, as waitpid gives it
};

class Lockstep {
 public:
  // The files as the second decoder has read and checked them.
  Lockstep(const ElfFile& original, const InstrumentedFile& file, const FlagFlow& flags,
           const std::vector<CopiedPlace>& places, const std::vector<std::uint64_t>& windows);

  // Programs of the same file name in folders whose names are equally long: else stacks differ.
  std::expected<LockstepResult, std::string> run(const std::string& originalPath, const std::string& copyPath,
                                                 const std::vector<std::string>& arguments,
                                                 const std::vector<std::string>& environment,
                                                 const LockstepOptions& options);

 private:
  // Where a process stands: before an original instruction, or before code that is not stepped.
  struct Point {
    enum class Kind { Instruction, Outside, Signal, End } kind = Kind::End;
    std::uint64_t address = 0;  // link-time of the instruction; else where it is
    bool fromOutside = false;  // code that is not stepped ran in between
    bool throughGate = false, throughRoutine = false;
  };
  struct Stack {
    std::uint64_t sp = 0;
    std::vector<std::uint64_t> original, copy;
  };
  // A signal handler that is running.
  struct Handler {
    std::uint64_t sp = 0;  // on entry, in the original
    std::uint64_t distance = 0;  // of the original's stack from the copy's
  };
  using Outcome = std::expected<void, std::string>;

  std::expected<Point, std::string> nextOriginal();
  std::expected<Point, std::string> nextCopy(const Point& due);
  const CopiedPlace* placeAt(std::uint64_t address) const;
  bool isOriginalCode(std::uint64_t address) const;
  bool isInRoutine(std::uint64_t address) const;

  Outcome compare(const Point& original, const Point& copy);
  bool isHandlerEntry() const;
  Outcome enterHandler();
  void leaveHandlers();
  Outcome compareRegisters(std::uint64_t address, bool garbage);
  Outcome compareStack(bool fromOutside);
  Outcome heal(const Point& original, const Point& copy);
  bool healStack(std::uint64_t from, std::uint64_t to);
  std::uint64_t distance() const { return m_handlers.empty() ? 0 : m_handlers.back().distance; }
  Outcome compareFloating(std::uint64_t address, bool garbage);
  Outcome compareFrames(std::uint64_t due);
  std::optional<std::uint64_t> behindStub(std::uint64_t stub) const;
  bool leadsPastStub(std::uint64_t stub, std::uint64_t to) const;
  bool leadsBackIn(std::uint64_t stub) const;
  std::string where() const;

  const ElfFile& m_elf;
  const InstrumentedFile& m_file;
  const FlagFlow& m_flags;
  const std::vector<CopiedPlace>& m_places;
  std::unordered_map<std::uint64_t, std::uint64_t> m_instructions;  // where copies of instructions begin
  std::vector<std::uint64_t> m_windows;  // sorted
  std::vector<CodeRange> m_functions;  // the originals that have copies
  SteppedProcess m_original, m_copy;
  std::unique_ptr<SameValues> m_values;
  std::unique_ptr<FrameReader> m_originalFrames, m_copyFrames;
  std::unordered_set<std::uint64_t> m_unwoundAt;
  Stack m_stack;
  std::vector<Handler> m_handlers;
  bool m_delivering = false;  // a signal, by the step that is made now
  struct {
    int signal = 0;
    std::uint64_t pc = 0;  // where it came
  } m_delivered;
  std::vector<std::uint64_t> m_recent;  // addresses of the instructions before, for messages
  LockstepOptions m_options;
  LockstepResult m_result;
};

}  // namespace traceback::truth
