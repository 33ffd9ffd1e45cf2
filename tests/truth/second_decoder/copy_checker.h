// Checks the copy of one function against the original, instruction by instruction, with Capstone: what is
// not a probe, a gate or a widened branch must be the original's bytes, but for displacements that lead to
// the same place; and every probe must write what the map says of its block, and use nothing that the program
// still needs.
#pragma once

#include <capstone/capstone.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/truth/instrumented_file.h"
#include "tests/truth/second_decoder/liveness.h"

namespace traceback::truth {

struct Findings {
  std::vector<std::string> wrong;
  std::uint64_t functions = 0, windows = 0, instructions = 0, heads = 0, lights = 0, dispatches = 0;
};

// Where the copies of instructions begin, their probes included.
using CopyPlaces = std::map<std::uint64_t, std::uint64_t>;

// A jump or call that must lead to the copy of `original`, or, if `mayStay`, to the original.
struct Obligation {
  std::uint64_t from, to, original;
  bool mayStay;
};

class CopyChecker {
 public:
  CopyChecker(const ElfFile& original, const InstrumentedFile& file, Findings& findings);
  ~CopyChecker();
  CopyChecker(const CopyChecker&) = delete;
  CopyChecker& operator=(const CopyChecker&) = delete;

  void check(const InstrumentedFunction& function);
  // After all functions: whether everything leads where it must.
  void checkObligations();

 private:
  struct Code {
    std::uint64_t address = 0;
    unsigned size = 0;
    std::vector<unsigned char> bytes;
    unsigned id = 0;
    std::string text;
    std::uint64_t target = 0;  // of a direct jump or call
    bool direct = false;  // it is one
    std::uint64_t ripTarget = 0;  // of an operand relative to rip
    unsigned ripOffset = 0;  // of its displacement; 0 if none
    std::uint64_t imm = 0;
    std::int64_t disp = 0;
    unsigned reg0 = 0, reg1 = 0;  // register operands, by position
    unsigned base = 0, segment = 0;
    bool memoryFirst = false, memory = false;
    unsigned width = 0;  // of the memory operand
    Effects effects;
  };
  struct Line {  // of the walk over one copy
    const InstrumentedFunction* function = nullptr;
    std::vector<Code> original;
    std::vector<Needs> needs;  // before each
    std::uint64_t pc = 0, end = 0;
    std::size_t next = 0;  // original instruction that is due
    std::set<std::uint32_t> headsSeen, lightsSeen;
    std::map<std::uint64_t, std::uint32_t> withBit;  // blocks with a bit, by their start
    std::map<std::uint32_t, std::uint32_t> dagOfWord;  // by the word that its head writes
    std::vector<std::pair<std::uint64_t, std::uint64_t>> wraps;  // where, and where it resumes
    std::vector<unsigned> wrapRegisters;
    std::map<std::uint64_t, std::pair<std::uint64_t, std::uint64_t>> tables;  // at; lowest, range
  };

  void fail(const Line& line, std::uint64_t at, const std::string& what);
  bool decode(const ElfFile& file, std::uint64_t at, std::uint64_t end, Code& out);
  bool code(Line& line, Code& out);  // at pc, without moving it
  bool take(Line& line, Code& out);
  std::pair<std::uint64_t, bool> originOf(const InstrumentedFunction& function, std::uint64_t at) const;

  bool checkGate(Line& line, std::uint64_t& displaced);
  bool checkBlocks(Line& line);
  bool checkProbe(Line& line, std::uint64_t original, bool& found);
  bool checkScratch(const Line& line, std::uint64_t at, std::uint16_t written, bool flagsWritten);
  bool checkHead(Line& line, unsigned reg, std::uint64_t original);
  bool checkInstruction(Line& line, const Code& original, bool exactly);
  bool checkDispatch(Line& line, const Code& original, bool& found);
  bool checkShortBranch(Line& line, const Code& original, bool exactly);
  bool checkWraps(Line& line);
  bool checkDisplaced(Line& line, std::uint64_t displaced, std::uint64_t window);
  bool checkTables(Line& line);
  void checkCompleteness(Line& line);

  const ElfFile& m_original;
  const InstrumentedFile& m_file;
  Findings& m_findings;
  csh m_capstone = 0;
  CopyPlaces m_places;
  std::vector<Obligation> m_obligations;
};

}  // namespace traceback::truth
