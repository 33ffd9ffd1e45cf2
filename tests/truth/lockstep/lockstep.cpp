#include "tests/truth/lockstep/lockstep.h"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <format>

#include "tests/truth/second_decoder/unwind_tables.h"

namespace traceback::truth {

namespace {

constexpr std::size_t kStackWords = 64;
constexpr std::uint64_t kFloatingEvery = 16;
// As FlagFlow has them: CF, PF, AF, ZF, SF, OF.
constexpr std::array<unsigned long long, 6> kFlagBits = {0x1, 0x4, 0x10, 0x40, 0x80, 0x800};
constexpr unsigned long long kDirection = 0x400;
constexpr std::array<const char*, 16> kNames = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                                "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr unsigned kRsp = 4;

std::array<unsigned long long, 16> valuesOf(const user_regs_struct& r) {
  return {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
          r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
}

std::size_t behindPrefixes(std::span<const unsigned char> code) {
  std::size_t at = 0;
  while (at + 2 < code.size() && ((code[at] & 0xF0) == 0x40 || code[at] == 0xF2 || code[at] == 0xF3 ||
                                  code[at] == 0x3E || code[at] == 0x66))
    ++at;
  return at;
}

bool isCall(std::span<const unsigned char> code) {
  const std::size_t at = behindPrefixes(code);
  return code[at] == 0xE8 || (code[at] == 0xFF && ((code[at + 1] >> 3) & 7) == 2);
}

bool isReturn(std::span<const unsigned char> code) {
  const unsigned char op = code[behindPrefixes(code)];
  return op == 0xC3 || op == 0xC2;
}

}  // namespace

Lockstep::Lockstep(const ElfFile& original, const InstrumentedFile& file, const FlagFlow& flags,
                   const std::vector<CopiedPlace>& places, const std::vector<std::uint64_t>& windows)
    : m_elf(original), m_file(file), m_flags(flags), m_places(places), m_windows(windows) {
  std::ranges::sort(m_windows);
  for (const CopiedPlace& place : places)
    if (place.at != 0) m_instructions[place.at] = place.original;
  for (const InstrumentedFunction& function : file.functions)
    if (function.entry.copy != 0)
      m_functions.push_back({function.entry.original, function.entry.original + function.entry.originalSize});
}

const CopiedPlace* Lockstep::placeAt(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(m_places, address, {}, &CopiedPlace::start);
  if (after == m_places.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

// Original instructions that the instrumented file may execute too: all but what entries' jumps took, and the
// endbr64 in front of those, which stands in the copy as well.
bool Lockstep::isOriginalCode(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(m_functions, address, {}, &CodeRange::start);
  if (after == m_functions.begin() || address >= std::prev(after)->end) return false;
  const auto window = std::ranges::lower_bound(m_windows, std::prev(after)->start);
  return window == m_windows.end() || *window > std::prev(after)->start + 4 || address >= *window + 5;
}

// Code that writes the records of probes that call it.
bool Lockstep::isInRoutine(std::uint64_t address) const {
  return address >= m_file.headerAddress + m_file.module.headerSize && address < m_file.module.copyStart;
}

// Where the stub (`[endbr64] [bnd] jmp *slot(%rip)`) that the original goes to leads by now.
std::optional<std::uint64_t> Lockstep::behindStub(std::uint64_t stub) const {
  constexpr std::array<unsigned char, 4> kEndbr64 = {0xF3, 0x0F, 0x1E, 0xFA};
  std::uint64_t at = stub - m_original.bias();
  if (const auto first = m_elf.at(at, 4); first && std::ranges::equal(*first, kEndbr64)) at += 4;
  if (const auto prefix = m_elf.at(at, 1); prefix && (*prefix)[0] == 0xF2) ++at;
  const auto jump = m_elf.at(at, 6);
  if (!jump || (*jump)[0] != 0xFF || (*jump)[1] != 0x25) return std::nullopt;
  std::int32_t distance = 0;
  std::memcpy(&distance, jump->data() + 2, sizeof distance);
  std::uint64_t target[1];
  if (!m_original.read(at + 6 + std::uint64_t(std::int64_t{distance}) + m_original.bias(), target))
    return std::nullopt;
  return target[0];
}

bool Lockstep::leadsPastStub(std::uint64_t stub, std::uint64_t to) const {
  const auto behind = behindStub(stub);
  return behind && m_values->same(*behind, to);
}

// The copy goes there without it.
bool Lockstep::leadsBackIn(std::uint64_t stub) const {
  const auto behind = behindStub(stub);
  return behind && std::ranges::any_of(m_functions, [&](const CodeRange& function) {
           return function.start + m_original.bias() == *behind;
         });
}

std::string Lockstep::where() const {
  std::string out = std::format("after {} instructions, original at {:#x}, instrumented at {:#x}; before:",
                                m_result.instructions, m_original.linkPc(), m_copy.linkPc());
  const std::size_t from = m_recent.size() > 8 ? m_recent.size() - 8 : 0;
  for (std::size_t i = from; i < m_recent.size(); ++i) out += std::format(" {:#x}", m_recent[i]);
  return out;
}

std::expected<Lockstep::Point, std::string> Lockstep::nextOriginal() {
  Point point;
  auto stop = SteppedProcess::Stop::End;
  do {
    point.fromOutside = m_delivering || !m_original.inRanges();
    const auto advanced = m_original.advance();
    if (!advanced) return std::unexpected(advanced.error());
    stop = *advanced;
    while (stop == SteppedProcess::Stop::Step && !m_delivering && !m_original.inRanges() &&
           leadsBackIn(m_original.pc())) {
      const auto through = m_original.advance();
      if (!through) return std::unexpected(through.error());
      stop = *through;
    }
    // A handler that is not stepped, or none.
  } while (stop == SteppedProcess::Stop::Step && m_delivering && !m_original.inRanges());
  if (stop == SteppedProcess::Stop::End) return point;
  point.kind = stop == SteppedProcess::Stop::Signal ? Point::Kind::Signal
               : m_original.inRanges()              ? Point::Kind::Instruction
                                                    : Point::Kind::Outside;
  point.address = point.kind == Point::Kind::Instruction ? m_original.linkPc() : m_original.pc();
  return point;
}

// On to the next place that has a counterpart in the original's run. On the way each new place is unwound:
// what stands for an instruction has its frames.
std::expected<Lockstep::Point, std::string> Lockstep::nextCopy(const Point& due) {
  Point point;
  for (;;) {
    const bool wasOutside = !m_copy.inRanges();
    const std::uint64_t from = m_copy.linkPc();
    point.fromOutside |= wasOutside || m_delivering;
    const auto stop = m_copy.advance();
    if (!stop) return std::unexpected(stop.error());
    if (*stop == SteppedProcess::Stop::End) {
      point.kind = Point::Kind::End;
      return point;
    }
    point.address = m_copy.pc();
    if (*stop == SteppedProcess::Stop::Signal) {
      // The runtime comes before a signal that ends the process, and sends it once more.
      if (due.kind == Point::Kind::End && WIFSIGNALED(m_original.status())) continue;
      point.kind = Point::Kind::Signal;
      return point;
    }
    const std::uint64_t at = m_copy.linkPc();
    if (m_options.unwind && !m_delivering && due.kind == Point::Kind::Instruction && m_copy.inRanges() &&
        m_unwoundAt.insert(at).second)
      if (auto frames = compareFrames(due.address); !frames) return std::unexpected(frames.error());
    if (!m_copy.inRanges()) {
      // The ways of probes into the runtime are none of the original's business.
      const CopiedPlace* place = placeAt(from);
      if (wasOutside || m_delivering || isInRoutine(from) ||
          (place != nullptr && (place->at == 0 || from < place->at)))
        continue;
      point.kind = Point::Kind::Outside;
      return point;
    }
    const auto copied = m_instructions.find(at);
    if (copied == m_instructions.end() && !isOriginalCode(at)) {
      const CopiedPlace* place = placeAt(at);
      point.throughRoutine |= isInRoutine(at);
      point.throughGate |= place != nullptr && place->start == at && place->at == 0 && !place->probe;
      continue;
    }
    if (copied != m_instructions.end()) ++m_result.inCopies;
    point.kind = Point::Kind::Instruction;
    point.address = copied != m_instructions.end() ? copied->second : at;
    return point;
  }
}

Lockstep::Outcome Lockstep::compareRegisters(std::uint64_t address, bool garbage) {
  const Needs* needs = m_flags.needsAt(address);
  if (needs == nullptr)
    return std::unexpected(std::format("{:#x} is no instruction of the original's", address));
  const CopiedPlace* place = placeAt(m_copy.linkPc());
  const auto before = valuesOf(m_original.registers()), after = valuesOf(m_copy.registers());
  for (unsigned i = 0; i < before.size(); ++i) {
    if (((needs->registers >> i) & 1) == 0 && i != kRsp) continue;
    if (place != nullptr && ((place->differs >> i) & 1) != 0) continue;
    if (i != kRsp && m_values->same(before[i], after[i])) continue;
    // What calling conventions say is lost over a call may be anything behind it.
    constexpr std::uint16_t kLost = 0x0FC7;  // rax rcx rdx rsi rdi r8 to r11
    if (garbage && ((kLost >> i) & 1) != 0) m_values->learnGarbage(before[i], after[i]);
    if (i == kRsp && before[i] == after[i] + distance()) continue;
    if (i != kRsp && m_values->isGarbage(before[i], after[i])) continue;
    return std::unexpected(
        std::format("{} is {:#x} instead of {:#x}, {}", kNames[i], after[i], before[i], where()));
  }
  const auto difference = m_original.registers().eflags ^ m_copy.registers().eflags;
  for (unsigned i = 0; i < kFlagBits.size(); ++i)
    if (((needs->flags >> i) & 1) != 0 && (difference & kFlagBits[i]) != 0)
      return std::unexpected(std::format("flag {:#x} differs, {}", kFlagBits[i], where()));
  if ((difference & kDirection) != 0) return std::unexpected("the direction flag differs, " + where());
  return {};
}

// Copies what is dead from the original's stack to the other's.
bool Lockstep::healStack(std::uint64_t from, std::uint64_t to) {
  // As deep as the stack is there.
  for (; from < to; from = to - (to - from) / 2 / 8 * 8) {
    std::vector<std::uint64_t> words((to - from) / 8);
    if (m_original.read(from, words) && m_copy.write(from - distance(), words)) return true;
  }
  return to == from;
}

Lockstep::Outcome Lockstep::heal(const Point& original, const Point& copy) {
  constexpr std::uint64_t kDepth = 0x8000, kRedZone = 128;
  const user_regs_struct& before = m_original.registers();
  const std::uint64_t sp = before.rsp, previous = m_recent.empty() ? 0 : m_recent.back();
  if (sp != m_copy.registers().rsp + distance() || sp % 8 != 0) return {};
  const auto code = m_elf.at(previous, 8);
  bool good = true;
  if (original.fromOutside) {
    good = healStack(sp - kDepth, sp);
    // Behind a call these are anybody's; at a function's start only the latter two.
    user_regs_struct after = m_copy.registers();
    if (code && isCall(*code)) {
      after.rcx = before.rcx, after.rsi = before.rsi, after.rdi = before.rdi;
      after.r8 = before.r8, after.r9 = before.r9;
    }
    after.r10 = before.r10, after.r11 = before.r11;
    good = good && m_copy.setRegisters(after);
  } else {
    if (copy.fromOutside) good = healStack(sp - kDepth, sp - kRedZone);
    if (code && isReturn(*code) && m_stack.sp < sp)
      good = good && healStack(m_stack.sp, sp);  // the address that it returned by
    const std::uint16_t lost =
        code && isReturn(*code) ? m_flags.lostAt(original.address, previous) : std::uint16_t{0};
    if (lost != 0) {
      user_regs_struct after = m_copy.registers();
      const auto make = [&](unsigned number, auto member) {
        if ((lost >> number & 1) != 0) after.*member = before.*member;
      };
      make(6, &user_regs_struct::rsi);
      make(7, &user_regs_struct::rdi);
      make(9, &user_regs_struct::r9);
      make(10, &user_regs_struct::r10);
      make(11, &user_regs_struct::r11);
      good = good && m_copy.setRegisters(after);
    }
  }
  // Without flags the gate keeps a register below the stack.
  if (good && copy.throughGate) good = healStack(sp - 8, sp);
  // Routines have their return address there, and two registers.
  if (good && copy.throughRoutine) good = healStack(sp - 24, sp);
  if (!good) return std::unexpected("the stack cannot be read, " + where());
  return {};
}

// The stack from its top on, and the red zone below.
Lockstep::Outcome Lockstep::compareStack(bool fromOutside) {
  constexpr std::uint64_t kRedZone = 128;
  Stack now;
  now.sp = m_original.registers().rsp;
  const std::uint64_t from = now.sp - kRedZone;
  // Above a handler's frames are those of different callers.
  const std::size_t count =
      m_handlers.empty() ? kStackWords : std::min(kStackWords, (m_handlers.back().sp + 8 - from) / 8);
  now.original.resize(count);
  now.copy.resize(count);
  if (!m_original.read(from, now.original) || !m_copy.read(from - distance(), now.copy)) {  // near the bottom
    m_stack = {now.sp, {}, {}};
    return {};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t before = now.original[i], after = now.copy[i];
    if (before == after || m_values->isGarbage(before, after) || m_values->same(before, after)) continue;
    // A code address of which a part was overwritten: the same part by the same.
    const std::uint64_t then = (now.sp - m_stack.sp) / 8 + i;
    // The frames of whoever called back are not stepped.
    if (fromOutside && i >= kRedZone / 8 && then >= m_stack.original.size()) {
      m_values->learnGarbage(before, after);
      continue;
    }
    if (then < m_stack.original.size()) {
      const std::uint64_t changed = (m_stack.original[then] ^ before) | (m_stack.copy[then] ^ after);
      std::uint64_t written = 0;
      for (unsigned byte = 0; byte < 64; byte += 8)
        if (((changed >> byte) & 0xFF) != 0) written |= std::uint64_t{0xFF} << byte;
      if (written != ~std::uint64_t{0} && (before & written) == (after & written)) {
        m_values->learnGarbage(before, after);
        continue;
      }
    }
    return std::unexpected(std::format("on the stack, at rsp{:+#x}, is {:#x} instead of {:#x}, {}",
                                       std::int64_t(8 * i) - std::int64_t(kRedZone), after, before, where()));
  }
  m_stack = std::move(now);
  return {};
}

Lockstep::Outcome Lockstep::compareFloating(std::uint64_t address, bool garbage) {
  user_fpregs_struct before{}, after{};
  if (!m_original.floating(before) || !m_copy.floating(after)) return {};
  if (before.cwd != after.cwd || before.swd != after.swd || before.ftw != after.ftw ||
      before.mxcsr != after.mxcsr)
    return std::unexpected("floating-point modes or exceptions differ, " + where());
  const auto words = [&](const unsigned* a, const unsigned* b, std::size_t count,
                         const char* what) -> Outcome {
    for (std::size_t i = 0; i < count; i += 2) {
      const std::uint64_t x = a[i] | std::uint64_t{a[i + 1]} << 32, y = b[i] | std::uint64_t{b[i + 1]} << 32;
      if (m_values->same(x, y)) continue;
      if (garbage) m_values->learnGarbage(x, y);
      if (!m_values->isGarbage(x, y))
        return std::unexpected(std::format("{}{}: {:#x} instead of {:#x}, {}", what, i / 4, y, x, where()));
    }
    return {};
  };
  if (auto st = words(before.st_space, after.st_space, 32, "st"); !st) return st;
  const Needs* needs = m_flags.needsAt(address);
  const std::size_t compared = needs == nullptr || (needs->flags & (kXmm15 | kXmm15Beyond)) != 0 ? 64 : 60;
  return words(before.xmm_space, after.xmm_space, compared, "xmm");
}

// The copy stands where something stands for the instruction `due`, before which the original stands.
Lockstep::Outcome Lockstep::compareFrames(std::uint64_t due) {
  const bool inRoutine = isInRoutine(m_copy.linkPc());
  const CopiedPlace* place = placeAt(m_copy.linkPc());
  if (!inRoutine && (place == nullptr || place->original != due)) return {};
  ++m_result.unwound;
  const auto before = m_originalFrames->frames();
  auto after = m_copyFrames->frames();
  // Called from where the probe stands.
  if (inRoutine && !after.empty()) after.erase(after.begin());
  if (before.size() != after.size())
    return std::unexpected(std::format("{} frames instead of {}, {}", after.size(), before.size(), where()));
  for (std::size_t i = 0; i < before.size(); ++i) {
    // An interrupted instruction, not a call.
    const auto copied = m_instructions.find(after[i].ip - m_copy.bias());
    const bool sameCode =
        i == 0 || m_values->same(before[i].ip, after[i].ip) ||
        (copied != m_instructions.end() && copied->second + m_original.bias() == before[i].ip);
    const bool same = sameCode && m_values->sameStack(before[i].sp, after[i].sp);
    if (!same)
      return std::unexpected(
          std::format("frame {} is {:#x} with the stack at {:#x}, instead of {:#x} at {:#x}, {}", i,
                      after[i].ip, after[i].sp, before[i].ip, before[i].sp, where()));
  }
  return {};
}

// Whether the signal led to a handler that is stepped: with its number, and the stack as at any call.
bool Lockstep::isHandlerEntry() const {
  const user_regs_struct& now = m_original.registers();
  return now.rip != m_delivered.pc && now.rsp % 16 == 8 && int(now.rdi) == m_delivered.signal;
}

// Both stand at a handler's start. Of what it was given the number, the information and the context are the
// handler's; whatever else is in registers its caller left there.
Lockstep::Outcome Lockstep::enterHandler() {
  constexpr std::uint64_t kDepth = 0x100000, kFrame = 0x4000, kPassed = 0xC4;  // rdx, rsi, rdi
  const user_regs_struct &before = m_original.registers(), &after = m_copy.registers();
  std::uint64_t returnBefore[1], returnAfter[1];
  if (!m_original.read(before.rsp, returnBefore) || !m_copy.read(after.rsp, returnAfter))
    return std::unexpected("the stack cannot be read, " + where());
  const std::uint64_t distance = before.rsp - after.rsp;
  const std::uint64_t frames = before.rdx - after.rdx;  // of the kernel's own
  m_handlers.push_back({before.rsp, distance});
  auto& shifts = m_values->shifts();
  shifts.push_back({after.rsp - kDepth, after.rsp + 9, distance});
  shifts.push_back({after.rdx - 8, after.rdx + kFrame, frames});
  m_values->learnPair(returnBefore[0], returnAfter[0]);
  const auto registersBefore = valuesOf(before), registersAfter = valuesOf(after);
  for (unsigned i = 0; i < registersBefore.size(); ++i)
    if (i != kRsp && ((kPassed >> i) & 1) == 0) m_values->learnGarbage(registersBefore[i], registersAfter[i]);
  m_stack = {};
  ++m_result.handlers;
  return {};
}

// By return, jump or throw.
void Lockstep::leaveHandlers() {
  constexpr std::uint64_t kDepth = 0x100000;
  const std::uint64_t sp = m_original.registers().rsp;
  while (!m_handlers.empty() && (sp > m_handlers.back().sp || sp < m_handlers.back().sp - kDepth)) {
    m_handlers.pop_back();
    auto& shifts = m_values->shifts();
    shifts.resize(2 * m_handlers.size());
    m_stack = {};
  }
}

Lockstep::Outcome Lockstep::compare(const Point& original, const Point& copy) {
  if (original.kind != copy.kind)
    return std::unexpected(
        std::format("the one {}, the other {}, {}", int(original.kind), int(copy.kind), where()));
  const bool garbage = original.fromOutside || copy.fromOutside;
  switch (original.kind) {
    case Point::Kind::Signal:
      if (m_original.signal() != m_copy.signal())
        return std::unexpected(
            std::format("signal {} instead of {}, {}", m_copy.signal(), m_original.signal(), where()));
      return {};
    case Point::Kind::Outside:
      ++m_result.outside;
      if (!m_values->same(original.address, copy.address) && !leadsPastStub(original.address, copy.address))
        return std::unexpected(
            std::format("goes to {:#x} instead of {:#x}, {}", copy.address, original.address, where()));
      return {};
    case Point::Kind::Instruction:
      break;
    default:
      return {};
  }
  if (original.address != copy.address)
    return std::unexpected(
        std::format("executes {:#x} instead of {:#x}, {}", copy.address, original.address, where()));
  ++m_result.instructions;
  leaveHandlers();
  if (m_delivering && isHandlerEntry())
    if (auto entered = enterHandler(); !entered) return entered;
  if (auto healed = heal(original, copy); !healed) return healed;
  if (auto registers = compareRegisters(original.address, garbage); !registers) return registers;
  if (auto stack = compareStack(garbage); !stack) return stack;
  if (garbage || m_result.instructions % kFloatingEvery == 0)
    if (auto floating = compareFloating(original.address, garbage); !floating) return floating;
  if (m_recent.size() > 64) m_recent.erase(m_recent.begin(), m_recent.begin() + 48);
  m_recent.push_back(original.address);
  return {};
}

std::expected<LockstepResult, std::string> Lockstep::run(const std::string& originalPath,
                                                         const std::string& copyPath,
                                                         const std::vector<std::string>& arguments,
                                                         const std::vector<std::string>& environment,
                                                         const LockstepOptions& options) {
  m_options = options;
  std::vector<CodeRange> copied = m_functions;
  for (const InstrumentedFunction& function : m_file.functions)
    if (function.entry.copy != 0)
      copied.push_back({function.entry.copy, function.entry.copy + function.entry.copySize});
  // A range without an address would hide another that begins there.
  if (const std::uint64_t routines = m_file.headerAddress + m_file.module.headerSize;
      routines < m_file.module.copyStart)
    copied.push_back({routines, m_file.module.copyStart});
  std::ranges::sort(copied, {}, &CodeRange::start);
  if (auto started =
          m_original.start(originalPath, arguments, environment, m_elf.header().e_entry, m_functions);
      !started)
    return std::unexpected(started.error());
  if (auto started =
          m_copy.start(copyPath, arguments, environment, m_elf.header().e_entry, std::move(copied));
      !started)
    return std::unexpected(started.error());
  if (m_original.bias() != m_copy.bias()) return std::unexpected("the two lie at different addresses");
  if (m_original.heapStart() < m_copy.heapStart() && !m_original.moveHeap(m_copy.heapStart()))
    return std::unexpected("the original's heap cannot be moved to where the other's is");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> starts;
  for (const InstrumentedFunction& function : m_file.functions)
    if (function.entry.copy != 0) starts.emplace_back(function.entry.copy, function.entry.original);
  // Unwinders keep where an exception table is.
  const auto before = UnwindTables::read(m_elf), after = UnwindTables::read(m_file.elf);
  for (std::size_t i = 0, count = starts.size(); before && after && i < count; ++i) {
    const Fde* copy = after->entryAt(starts[i].first);
    const Fde* original = before->entryAt(starts[i].second);
    if (copy != nullptr && original != nullptr && copy->lsda != 0)
      starts.emplace_back(copy->lsda, original->lsda);
  }
  m_values = std::make_unique<SameValues>(m_original, m_copy, m_places, starts);
  m_originalFrames = std::make_unique<FrameReader>(m_original.pid());
  m_copyFrames = std::make_unique<FrameReader>(m_copy.pid());
  for (;;) {
    const auto original = nextOriginal();
    if (!original) return std::unexpected("original: " + original.error());
    const auto copy = nextCopy(*original);
    if (!copy) return std::unexpected("instrumented: " + copy.error());
    if (auto same = compare(*original, *copy); !same) return std::unexpected(same.error());
    if (original->kind == Point::Kind::End) break;
    m_delivering = original->kind == Point::Kind::Signal;
    if (m_delivering) m_delivered = {m_original.signal(), m_original.pc()};
    if (m_result.instructions >= options.limit) {
      m_result.cutShort = true;
      return m_result;
    }
  }
  if (m_original.status() != m_copy.status())
    return std::unexpected(
        std::format("ends with status {:#x} instead of {:#x}", m_copy.status(), m_original.status()));
  m_result.status = m_copy.status();
  return m_result;
}

}  // namespace traceback::truth
