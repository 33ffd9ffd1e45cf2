#include "runtime/inject/snaps/policy.h"

#include "runtime/format/history.h"

namespace traceback::inject {

namespace {

struct Word {
  const char* start = nullptr;
  std::size_t size = 0;

  bool is(const char* text) const {
    std::size_t i = 0;
    while (i < size && text[i] != 0 && text[i] == start[i]) ++i;
    return i == size && text[i] == 0;
  }
  Word from(std::size_t begin) const { return {start + begin, size - begin}; }
  bool startsWith(const char* text) const {
    std::size_t i = 0;
    for (; text[i] != 0; ++i)
      if (i >= size || text[i] != start[i]) return false;
    return true;
  }
};

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// The words of a line, one after the other.
class Words {
 public:
  Words(const char* start, const char* end) : m_at(start), m_end(end) {}
  // Empty at the end.
  Word next() {
    while (m_at != m_end && isBlank(*m_at)) ++m_at;
    const Word word{m_at, 0};
    while (m_at != m_end && !isBlank(*m_at)) ++m_at;
    return {word.start, static_cast<std::size_t>(m_at - word.start)};
  }

 private:
  const char* m_at;
  const char* m_end;
};

constexpr std::uint64_t kMost = std::uint64_t{1} << 50;

// Digits from the start of `word`, which goes on behind them. False if there are none, or too many.
bool takeNumber(Word& word, std::uint64_t& number) {
  if (word.size == 0 || *word.start < '0' || *word.start > '9') return false;
  number = 0;
  while (word.size != 0 && *word.start >= '0' && *word.start <= '9') {
    number = number * 10 + static_cast<std::uint64_t>(*word.start - '0');
    if (number > kMost) return false;
    word = word.from(1);
  }
  return true;
}

bool isNumber(Word word, std::uint64_t& number) { return takeNumber(word, number) && word.size == 0; }

struct Unit {
  char letter;
  std::uint64_t factor;
};
constexpr Unit kSizes[] = {{'K', 1 << 10}, {'M', 1 << 20}, {'G', 1 << 30}};
constexpr Unit kTimes[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};

template <std::size_t N>
bool isQuantity(Word word, const Unit (&units)[N], std::uint64_t& number) {
  if (!takeNumber(word, number) || word.size > 1) return false;
  if (word.size == 0) return true;
  for (const Unit& unit : units) {
    if (*word.start != unit.letter) continue;
    if (number > kMost / unit.factor) return false;
    number *= unit.factor;
    return true;
  }
  return false;
}

// As Linux on x86-64 numbers them (signal(7)).
constexpr const char* kSignals[] = {"",       "HUP",  "INT",    "QUIT", "ILL",   "TRAP", "ABRT", "BUS",
                                    "FPE",    "KILL", "USR1",   "SEGV", "USR2",  "PIPE", "ALRM", "TERM",
                                    "STKFLT", "CHLD", "CONT",   "STOP", "TSTP",  "TTIN", "TTOU", "URG",
                                    "XCPU",   "XFSZ", "VTALRM", "PROF", "WINCH", "IO",   "PWR",  "SYS"};
constexpr unsigned kKill = 9, kStop = 19, kMostSignal = 64;

// 0 if it is none that can be waited for.
unsigned signalOf(Word word) {
  std::uint64_t number = 0;
  if (isNumber(word, number))
    return number >= 1 && number <= kMostSignal && number != kKill && number != kStop
               ? static_cast<unsigned>(number)
               : 0;
  if (word.startsWith("SIG")) word = word.from(3);
  for (unsigned i = 1; i < sizeof kSignals / sizeof *kSignals; ++i)
    if (word.is(kSignals[i])) return i == kKill || i == kStop ? 0 : i;
  return 0;
}

const char* readSignals(Words& words, bool snap, PolicyValues& policy) {
  std::uint64_t mask = 0;
  for (Word word = words.next(); word.size != 0; word = words.next()) {
    const unsigned signal = signalOf(word);
    if (signal == 0) return "names no signal that can be caught: write it as TERM, SIGTERM or 15";
    mask |= std::uint64_t{1} << (signal - 1);
  }
  if (mask == 0) return "names no signal: write it as TERM, SIGTERM or 15";
  policy.snapSignals = snap ? policy.snapSignals | mask : policy.snapSignals & ~mask;
  policy.ignoreSignals = snap ? policy.ignoreSignals & ~mask : policy.ignoreSignals | mask;
  return nullptr;
}

const char* readExits(Words& words, bool snap, PolicyValues& policy) {
  constexpr const char* kWrong = "takes exit statuses from 0 to 255: write 3, or 3-7";
  std::uint64_t bits[4] = {};
  bool any = false;
  for (Word word = words.next(); word.size != 0; word = words.next(), any = true) {
    std::uint64_t first = 0, last = 0;
    if (!takeNumber(word, first)) return kWrong;
    last = first;
    if (word.size != 0 && (*word.start != '-' || !isNumber(word.from(1), last))) return kWrong;
    if (last > 255 || first > last) return kWrong;
    for (std::uint64_t i = first; i <= last; ++i) bits[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  if (!any) return kWrong;
  for (unsigned i = 0; i < 4; ++i)
    policy.snapExits[i] = snap ? policy.snapExits[i] | bits[i] : policy.snapExits[i] & ~bits[i];
  return nullptr;
}

const char* readExceptions(Words& words, bool snap, Policy& policy) {
  Word word = words.next();
  if (word.size == 0) return "names no class: write it as std::out_of_range, or * for any";
  for (; word.size != 0; word = words.next()) {
    ExceptionRule rule{snap, {}};
    if (word.size >= sizeof rule.name) return "has a name that is too long: at most 126 characters";
    if (policy.exceptionRules == kMostExceptionRules) return "names too many classes: at most 32 in a file";
    for (std::size_t i = 0; i < word.size; ++i) rule.name[i] = word.start[i];
    policy.exceptions[policy.exceptionRules++] = rule;
  }
  return nullptr;
}

const char* readRate(Word word, PolicyValues& policy) {
  constexpr const char* kWrong = "takes a count and a time: write 20/1h";
  std::uint64_t count = 0, seconds = 0;
  if (!takeNumber(word, count) || word.size == 0 || *word.start != '/') return kWrong;
  if (!isQuantity(word.from(1), kTimes, seconds) || seconds == 0 || count > 1'000'000) return kWrong;
  policy.rateCount = static_cast<std::uint32_t>(count);
  policy.rateSeconds = seconds;
  return nullptr;
}

const char* readWatch(Words& words, bool snap, std::uint64_t& seconds, char (&thread)[kThreadNameSize]) {
  seconds = 0;
  thread[0] = 0;
  if (!snap) return nullptr;
  if (!isQuantity(words.next(), kTimes, seconds) || seconds == 0)
    return "takes a time, and the name of a thread if it is that alone: write 30s, or 30s worker";
  const Word name = words.next();
  if (name.size >= kThreadNameSize) return "has a name that no thread can have: at most 15 characters";
  for (std::size_t i = 0; i < kThreadNameSize; ++i) thread[i] = i < name.size ? name.start[i] : '\0';
  return nullptr;
}

const char* readChoice(Words& words, bool snap, Policy& policy) {
  const Word what = words.next();
  if (what.is("signal")) return readSignals(words, snap, policy);
  if (what.is("exit")) return readExits(words, snap, policy);
  if (what.is("exception")) return readExceptions(words, snap, policy);
  if (what.is("hang")) {
    policy.hangSeconds = 0;
    if (!snap) return nullptr;
    if (!isQuantity(words.next(), kTimes, policy.hangSeconds) || policy.hangSeconds == 0)
      return "takes a time: write 30s or 5m";
    return nullptr;
  }
  if (what.is("stall")) return readWatch(words, snap, policy.stallSeconds, policy.stallThread);
  if (what.is("wait")) return readWatch(words, snap, policy.waitSeconds, policy.waitThread);
  if (what.is("report")) {
    policy.snapReports = snap;
    return nullptr;
  }
  if (!what.is("call")) return "takes signal, exit, exception, hang, stall, wait, report or call";
  policy.snapCalls = snap;
  return nullptr;
}

const char* readMemory(Word word, PolicyValues& policy) {
  for (std::uint32_t i = 0; i < sizeof format::kKeptMemoryNames / sizeof *format::kKeptMemoryNames; ++i) {
    if (!word.is(format::kKeptMemoryNames[i])) continue;
    policy.memory = static_cast<format::KeptMemory>(i);
    policy.memorySaid = true;
    return nullptr;
  }
  return "takes stacks, none, writable or all";
}

// What is wrong with the line, or null.
const char* readRule(Word rule, Words& words, Policy& policy) {
  std::uint64_t number = 0;
  if (rule.is("snap") || rule.is("ignore")) return readChoice(words, rule.is("snap"), policy);
  if (rule.is("record")) {
    const Word value = words.next();
    policy.record = value.is("on");
    return policy.record || value.is("off") ? nullptr : "takes on or off";
  }
  if (rule.is("buffer")) {
    if (!isQuantity(words.next(), kSizes, number) || number < (16 << 10) || number > (1 << 30))
      return "takes a number from 16K to 1G";
    policy.bufferSize = number;
    return nullptr;
  }
  if (rule.is("history")) {
    const Word value = words.next();
    policy.historySaid = true;
    policy.historySize = 0;
    policy.historyCounts = value.is("counts");
    if (policy.historyCounts) policy.historySize = format::kCountingHistorySize;
    if (policy.historyCounts || value.is("off")) return nullptr;
    if (!isQuantity(value, kSizes, number) || number < format::kLeastHistorySize ||
        number > format::kMostHistorySize)
      return "takes a size from 64K to 16M, counts, or off";
    policy.historySize = number;
    return nullptr;
  }
  if (rule.is("rings")) {
    if (!isNumber(words.next(), number) || number < 1 || number > 1024)
      return "takes a number from 1 to 1024";
    policy.mostRings = number;
    return nullptr;
  }
  if (rule.is("total")) {
    if (!isQuantity(words.next(), kSizes, number) || number < (1 << 20))
      return "takes a size from 1M on: write 64M";
    policy.mostBytes = number;
    return nullptr;
  }
  if (rule.is("repeat")) {
    if (!isNumber(words.next(), number) || number > 1'000'000) return "takes a count; 0 for as many as come";
    policy.repeats = static_cast<std::uint32_t>(number);
    return nullptr;
  }
  if (rule.is("rate")) return readRate(words.next(), policy);
  if (rule.is("memory")) return readMemory(words.next(), policy);
  if (rule.is("disk")) {
    if (!isQuantity(words.next(), kSizes, policy.diskLimit)) return "takes a size: write 500M or 2G";
    return nullptr;
  }
  if (rule.is("keep")) {
    if (!isQuantity(words.next(), kTimes, policy.keepSeconds)) return "takes a time: write 12h or 30d";
    return nullptr;
  }
  return "is no rule: there are snap, ignore, record, buffer, history, rings, total, repeat, rate, memory, "
         "disk and keep";
}

// As above; a line that is wrong changes nothing. What it wrote behind the names that hold is not looked at.
const char* readLine(const char* start, const char* end, Policy& policy) {
  Words words(start, end);
  const Word rule = words.next();
  if (rule.size == 0) return nullptr;
  const PolicyValues before = policy;
  const char* wrong = readRule(rule, words, policy);
  if (wrong == nullptr && words.next().size != 0) wrong = "goes on where it should end";
  if (wrong != nullptr) static_cast<PolicyValues&>(policy) = before;
  return wrong;
}

}  // namespace

unsigned parsePolicy(const char* text, std::size_t size, Policy& policy, PolicyProblem* problems,
                     unsigned most) {
  unsigned wrong = 0, number = 0;
  for (std::size_t at = 0; at < size;) {
    std::size_t end = at;
    while (end < size && text[end] != '\n') ++end;
    std::size_t used = at;
    while (used < end && text[used] != '#') ++used;
    ++number;
    if (const char* reason = readLine(text + at, text + used, policy)) {
      if (wrong < most) problems[wrong] = {number, reason};
      ++wrong;
    }
    at = end + 1;
  }
  return wrong;
}

bool namesClass(const char* rule, const char* className) {
  for (;; ++rule, ++className) {
    if (*rule == '*') return true;
    if (*rule != *className) return false;
    if (*rule == 0) return true;
  }
}

bool snapsExit(const Policy& policy, unsigned status) {
  return (policy.snapExits[(status & 255) / 64] >> (status % 64) & 1) != 0;
}

}  // namespace traceback::inject
