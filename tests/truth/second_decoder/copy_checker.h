// Checks the copy of one function against the original, instruction by instruction, with Capstone: what is
// not a probe, a gate or a widened branch must be the original's bytes, but for displacements that lead to
// the same place; and every probe must write what the map says of its block, and use nothing that the program
// still needs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/format/record.h"
#include "tests/truth/instrumented_file.h"
#include "tests/truth/second_decoder/code.h"
#include "tests/truth/second_decoder/fixed_words.h"
#include "tests/truth/second_decoder/flag_flow.h"
#include "tests/truth/second_decoder/routines.h"

namespace traceback::truth {

inline constexpr std::int64_t kNextWord = sizeof(format::Word);  // from the cursor

struct Findings {
  std::vector<std::string> wrong;
  std::uint64_t hidden = 0;  // findings beyond the first few
  std::uint64_t functions = 0, windows = 0, instructions = 0, heads = 0, lights = 0, dispatches = 0,
                tableJumps = 0, throughSlots = 0, bySlot = 0, unwound = 0;

  void add(std::string what);
};

// What stands for one original instruction: [start, end) of the copy, in which the instruction's own copy
// begins at `at`, behind the probe; with `at` zero nothing of it is the instruction (a gate, a way to the
// runtime).
struct CopiedPlace {
  std::uint64_t start, at, end, original;
  unsigned size;  // of the original instruction
  std::uint16_t scratch = 0;  // registers that the probe in front leaves changed
  bool probe = false;  // nothing but a probe, behind a branch
  std::uint16_t differs = 0;  // registers that have in front of it what the original has not
};

// A jump or call that must lead to the copy of `original`, or, if `mayStay`, to the original.
struct Obligation {
  std::uint64_t from, to, original;
  bool mayStay;
  std::uint64_t by = 0;  // the original instruction
  bool keeps = false;  // it comes with the cursor in xmm15
  bool passesHead = false;  // it must lead behind the probe that stands in front of that copy
};

class CopyChecker {
 public:
  // `poisoned`: entries lead to the copies always, not by way of a gate.
  CopyChecker(const ElfFile& original, const InstrumentedFile& file, const FlagFlow& flags, bool poisoned,
              Findings& findings);

  // Of InstrumentedFile::functions, by rising index.
  void check(std::size_t index);
  // After all functions: whether everything leads where it must.
  void checkObligations();
  // And whether each record says which way it went, through however many functions.
  void checkPaths();

  // Of the function that was checked last, by rising address of the copy.
  const std::vector<CopiedPlace>& places() const { return m_places; }
  // Where what stands for an instruction begins, its probe included; 0 if it has no copy.
  std::uint64_t copyOf(std::uint64_t original) const;
  // Whether whoever enters that copy must have the ring's cursor in xmm15.
  bool needsCursor(std::uint64_t original) const { return m_needCursor.contains(original); }
  // Entries that were patched: the five bytes from there on.
  const std::vector<std::uint64_t>& windows() const { return m_windows; }
  const Routines& routines() const { return m_routines; }

 private:
  struct Line {  // of the walk over one copy
    const InstrumentedFunction* function = nullptr;
    std::vector<Code> original;
    const std::vector<Needs>* needs = nullptr;  // before each
    std::uint64_t pc = 0, end = 0;
    std::uint16_t scratch = 0;  // of the probe that was met last
    std::size_t next = 0;  // original instruction that is due
    std::vector<bool> copied;  // by original instruction: it was met
    std::optional<std::size_t> above;  // that from which control falls to what is due
    bool inverted = false;  // for its condition is the contrary, and what it led to follows
    std::set<std::uint32_t> headsSeen, lightsSeen;
    std::map<std::uint64_t, std::uint32_t> withBit;  // blocks with a bit, by the branch that they end in
    std::map<std::uint64_t, std::uint32_t> blockAt;  // by start
    std::map<std::uint64_t, std::uint32_t> blockBefore;  // by end
    std::map<std::uint32_t, std::size_t> headsApart;  // by block: which of m_copies awaits its probe
    std::map<std::uint64_t, std::uint32_t> sizeOf;  // of blocks, by start
    std::vector<unsigned> predecessors;  // by block
    std::map<std::uint32_t, std::uint64_t> takenEdges;  // by block: probes out of line
    // Calls and jumps that compare a slot, by original instruction: where they lead otherwise, and back from.
    std::map<std::size_t, std::pair<std::uint64_t, std::uint64_t>> elsewhere;
    std::map<std::uint64_t, std::uint64_t> calledBySlot;  // function, by original instruction
    std::map<std::uint32_t, std::uint32_t> dagOfWord;  // by the word that its head writes
    std::vector<std::pair<std::uint64_t, std::uint64_t>> wraps;  // where, and where it resumes
    std::vector<unsigned> wrapRegisters;
    std::vector<bool> wrapsKept;
    std::optional<bool> keeps;  // the cursor in xmm15; not known before its first probe
    std::vector<std::uint64_t> wrapOrigins;
    struct Comparison {  // of the cursor in xmm15 with that in memory, where the copy is entered
      std::uint64_t load, back;
      unsigned cursor, segment;  // registers
    };
    std::optional<Comparison> comparison;
    struct Table {
      std::uint64_t lowest, range;
      unsigned indexSize;
      std::int64_t distances;  // in front of the first
      std::uint16_t lost = 0;  // registers that its targets find changed
      bool losesFlags = false;
    };
    std::map<std::uint64_t, Table> tables;  // by address
    // A jump through a table, the copy's own in place of the program's.
    struct TableJump {
      std::size_t load = 0, jump = 0;  // original instructions; the same if the jump has the operand
      enum class Kind : std::uint8_t { Offsets, Addresses, Absolute } kind = Kind::Offsets;
      unsigned index = 0;
      unsigned base = 16;  // 16: none
      unsigned target = 16;  // has the copy's address; 16: none
      unsigned scratch = 16;  // is lost besides, or has it where the jump names no register
      bool kept = false;  // the scratch, in the slot
      bool losesFlags = false;
      std::uint8_t setBehindAdd = 0;  // flags, for certain
      bool leavesFlagsOfAdd = true;  // nothing behind it may set any
      std::uint64_t original = 0, table = 0, entries = 0;
      std::uint64_t slow = 0, changed = 0;  // ways out; 0: none

      std::uint16_t lost() const { return std::uint16_t((1U << target | 1U << scratch) & 0xFFFF); }
    };
    std::vector<TableJump> tableJumps;
  };

  void fail(const Line& line, std::uint64_t at, const std::string& what);
  bool decode(const ElfFile& file, std::uint64_t at, std::uint64_t end, Code& out);
  std::string text(const Code& code) const { return m_decoder.text(code); }
  bool code(Line& line, Code& out);  // at pc, without moving it
  bool take(Line& line, Code& out);
  std::pair<std::uint64_t, bool> originOf(const InstrumentedFunction& function, std::uint64_t at) const;

  void checkCopy(std::size_t index);
  bool checkWindow(Line& line, std::uint64_t window);
  bool checkGate(Line& line, std::uint64_t& displaced);
  bool checkBlocks(Line& line);
  bool checkCopied(Line& line, const Code& original);
  bool checkFallOff(Line& line);
  bool findDue(Line& line);
  bool standsThroughout(const InstrumentedFunction& function, std::uint64_t from, std::uint64_t to,
                        std::uint64_t original) const;
  // Of the original instruction that starts there; their number if none does.
  static std::size_t indexOf(const Line& line, std::uint64_t address);
  Needs needsAt(const Line& line, std::uint64_t address) const;
  std::uint64_t beginsAt(const Line& line, std::uint64_t at);
  bool goesOnElsewhere(Line& line, std::uint64_t original, bool& found);
  bool checkInverted(Line& line, const Code& original, const Code& copy);
  enum class Probe : std::uint8_t { Head, Light };
  bool checkProbe(Line& line, Probe kind, std::uint64_t original, const Needs& needs, bool& found);
  bool checkScratch(const Line& line, std::uint64_t at, const Needs& needs, std::uint16_t written,
                    bool flagsWritten);
  bool checkMask(Line& line, const Code& at, std::uint64_t branch, std::uint32_t mask);
  bool checkProbeOfBranchTo(Line& line, std::uint64_t branch, const Code& target);
  bool checkProbeBehind(Line& line, const Code& branch);
  bool checkTakenEdges(Line& line);
  bool checkHeadsApart(Line& line);
  bool checkPassing(Line& line, std::uint64_t original, bool& found);
  const format::BlockEntry* headAt(const Line& line, std::uint64_t original) const;
  static bool fallsOnFromAbove(const Line& line);
  static bool fallsPast(const Line& line);
  static bool passesHead(const Line& line, const Code& jump, unsigned edge = 0);
  bool setsBitOutOfLine(const Line& line, std::uint64_t branch, std::uint32_t& block) const;
  void transfer(Line& line, const Code& original, std::uint64_t from, std::uint64_t to, bool mayStay);
  bool checkBits(const InstrumentedFunction& function);
  unsigned bitsPassed(const InstrumentedFunction& from, const format::BlockEntry& block);
  void checkReached(const Line& line);
  static bool isReached(const Line& line, std::uint64_t address);
  bool checkHead(Line& line, unsigned reg, bool isCopied, std::uint64_t original);
  bool checkEntryComparison(Line& line, bool& found);
  bool checkEntryLoad(Line& line, std::uint64_t behindBlocks);
  bool checkBroughtHead(Line& line, std::uint64_t at, unsigned reg, std::uint64_t original);
  bool looksForWindowEnd(Line& line, unsigned reg);
  bool isKeptNext(Line& line, unsigned reg);
  bool checkWindowByFlags(Line& line, const Code& step, unsigned reg, bool kept, std::uint64_t original);
  bool checkWindowByCount(Line& line, const Code& behind, unsigned reg, bool kept);
  bool checkStep(Line& line, unsigned id, const std::function<bool(const Code&)>& isGood);
  bool checkStoredCursor(Line& line, unsigned reg, unsigned header);
  bool checkClaim(Line& line, unsigned reg, bool kept, bool byFlags);
  bool keepsByHeader(Line& line, unsigned reg);
  bool checkClaimByHeader(Line& line, unsigned reg, unsigned header, bool kept);
  bool checkSharedHead(Line& line, std::uint64_t original, const Needs& needs, bool& found);
  bool checkSharedBit(Line& line, std::uint64_t branch, bool& found);
  bool checkRoutinesStack(const Line& line, std::uint64_t at, bool isFreeInLeaves);
  bool checkRecord(Line& line, const Code& at, std::uint64_t original);
  bool checkKeeps(Line& line, bool keeps);
  bool checkUnkeptEntry(Line& line);
  bool checkCursorLoad(Line& line, const Needs& needs, bool& found);
  static const Code* callInFront(const Line& line, std::uint64_t original);
  void awaitBrought(const Line& line, std::uint64_t original);
  void noteExits(const Line& line);
  void checkBrought();
  bool leadsToBringer(std::uint64_t original) const;
  bool isWithinKeeper(std::uint64_t original) const;
  bool isWayToWrap(const Code& lea, const Code& jump, unsigned reg, bool kept) const;
  std::uint64_t slotOf(std::uint64_t stubAt);
  bool isThroughSlot(const Code& copy, const Code& original);
  bool comparesSlot(Line& line, const Code& original);
  static const format::BlockEntry* blockBySlot(const Line& line, const Code& original);
  bool checkBySlot(Line& line, const Code& original, std::uint64_t& itself);
  bool checkElsewhere(Line& line);
  bool checkInstruction(Line& line, const Code& original, bool exactly);
  bool checkDispatch(Line& line, const Code& original, bool& found);
  bool checkLookup(Line& line, unsigned base, unsigned index, bool keepsFlags);
  bool checkTableLoad(Line& line, const Code& original, bool& found);
  bool understandTableJump(Line& line, Line::TableJump& jump);
  bool compareTableJump(Line& line, Line::TableJump& jump, Code& c);
  bool proveBase(Line& line, Line::TableJump& jump);
  bool proveIndex(Line& line, Line::TableJump& jump);
  bool isStraight(const Line& line, std::size_t from, std::size_t to) const;
  bool checkSlowWays(Line& line);
  bool checkEntries(Line& line);
  // But for what the instructions behind the add have set.
  static Needs withoutSet(const Line::TableJump& jump, Needs needs);
  bool checkStub(Line& line, const Line::TableJump& jump, std::uint64_t original);
  std::optional<std::uint64_t> whereLeads(const Line::TableJump& jump, std::uint64_t index) const;
  bool checkShortBranch(Line& line, const Code& original, bool exactly);
  bool checkWraps(Line& line);
  bool checkDisplaced(Line& line, std::uint64_t displaced, std::uint64_t window);
  bool checkTables(Line& line);
  void checkCompleteness(Line& line);

  const ElfFile& m_original;
  const InstrumentedFile& m_file;
  Findings& m_findings;
  const FlagFlow& m_flags;
  const bool m_poisoned;
  const Routines m_routines;
  const FixedWords m_words;
  Decoder m_decoder;
  std::vector<CopiedPlace> m_places;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> m_copies;  // original, start of its copy; sorted
  std::vector<std::uint64_t> m_windows;
  std::vector<const format::FunctionEntry*> m_broken;  // with findings
  std::map<std::uint64_t, std::uint64_t>
      m_behindHeads;  // by original: where the copy begins, probes left out
  std::map<std::uint64_t, std::uint64_t> m_onlyBy;  // original places that nothing but that branch leads to
  std::vector<Obligation> m_obligations;
  // By original address: how many bits may be set from the first block on; nothing as long as that is looked
  // for.
  std::map<std::uint64_t, std::optional<unsigned>> m_bitsFrom;
  std::map<std::uint64_t, std::uint64_t> m_keepers;  // start and end of functions that keep the cursor
  std::set<std::uint64_t> m_needCursor;  // original places whose copies do
  std::map<std::uint64_t, std::uint64_t> m_unkeptEntries;  // of functions that keep it, by original address
  // Original places behind calls at which it must be in xmm15: the call, and the function that is called; 0
  // if that is not known.
  struct Brought {
    std::uint64_t call, callee;
  };
  std::map<std::uint64_t, Brought> m_awaitBrought;
  // Heads that take the cursor from xmm15 behind calls, by the instruction that does, as the module's table
  // has them: the routine to call instead.
  std::map<std::uint64_t, std::uint64_t> m_broughtHeads;
  std::set<std::uint64_t> m_broughtHeadsSeen;
  // By original start: where functions go on in others, by which of their instructions; nothing of those that
  // may end in original code.
  std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> m_bringers;
  std::set<std::uint64_t> m_stayOriginal;  // jumps and calls, by original address, that lead to the original
};

}  // namespace traceback::truth
