#include "tests/truth/stepper/stepper.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <format>
#include <fstream>
#include <map>

namespace traceback::truth {

namespace {

constexpr unsigned char kBreakpoint = 0xCC;

struct Task {
  std::size_t thread = 0;    // index in Sequence::threads
  std::uint64_t lastPc = 0;  // of the instruction that was last begun; 0 if that was outside the ranges
  bool started = false;      // the stop with which a new thread begins was seen
};

class Stepper {
 public:
  Stepper(pid_t process, const StepOptions& options) : m_process(process), m_options(options) {}
  ~Stepper() {
    if (m_memory >= 0) ::close(m_memory);
    if (!m_ended) {
      ::kill(m_process, SIGKILL);
      int status = 0;
      while (::waitpid(-1, &status, __WALL) > 0) {
      }
    }
  }
  Stepper(const Stepper&) = delete;
  Stepper& operator=(const Stepper&) = delete;

  Outcome<Sequence> run(const std::string& path);

 private:
  Outcome<void> prepare(const std::string& path);
  Outcome<void> onStop(pid_t tid, Task& task, int status);
  Outcome<void> onTrap(pid_t tid, Task& task);
  Outcome<void> onSignal(pid_t tid, Task& task, int signal);
  Outcome<void> resume(pid_t tid, Task& task, std::uint64_t pc, int signal);
  void onEnd(pid_t tid, int status);
  Outcome<void> setMask(bool masked);
  Task& taskOf(pid_t tid);

  bool inRanges(std::uint64_t pc) const;
  std::uint64_t pcOf(pid_t tid) const {
    return std::uint64_t(::ptrace(PTRACE_PEEKUSER, tid, offsetof(user_regs_struct, rip), 0));
  }
  // A repeated string instruction is one that stops after every round.
  bool isRepeated(std::uint64_t pc) const;
  bool isCaught(int signal) const;
  void addUnseen(Task& task, std::uint64_t pc);

  pid_t m_process;
  const StepOptions& m_options;
  std::uint64_t m_bias = 0;
  int m_memory = -1;
  bool m_masked = false;
  bool m_ended = false;
  std::uint64_t m_inside = 0, m_outside = 0;
  std::map<pid_t, Task> m_tasks;
  std::vector<std::string> m_original;  // bytes of each range
  Sequence m_sequence;
};

bool Stepper::inRanges(std::uint64_t pc) const {
  const std::uint64_t address = pc - m_bias;
  auto after = std::ranges::upper_bound(m_options.ranges, address, {}, &Range::start);
  return after != m_options.ranges.begin() && address < std::prev(after)->end;
}

bool Stepper::isRepeated(std::uint64_t pc) const {
  unsigned char code[15] = {};
  const ssize_t got = ::pread(m_memory, code, sizeof code, off_t(pc));
  bool repeat = false;
  for (ssize_t i = 0; i < got; ++i) {
    const unsigned char byte = code[i];
    if (byte == 0xF2 || byte == 0xF3) {
      repeat = true;
    } else if (byte != 0x66 && byte != 0x67 && (byte & 0xF0) != 0x40 && byte != 0x2E && byte != 0x3E) {
      return repeat && ((byte >= 0xA4 && byte <= 0xA7) || (byte >= 0xAA && byte <= 0xAF) ||
                        (byte >= 0x6C && byte <= 0x6F));
    }
  }
  return false;
}

// A hypervisor carries cpuid out itself, and some then lose the trap behind it: the next stop is one
// instruction late, and that instruction is the one behind cpuid.
void Stepper::addUnseen(Task& task, std::uint64_t pc) {
  unsigned char code[2] = {};
  for (std::uint64_t at = task.lastPc; at != 0; at += sizeof code) {
    if (::pread(m_memory, code, sizeof code, off_t(at)) != ssize_t(sizeof code)) return;
    if (code[0] != 0x0F || code[1] != 0xA2) return;
    if (pc == at + sizeof code || !inRanges(at + sizeof code)) return;
    m_sequence.threads[task.thread].addresses.push_back(std::uint32_t(at + sizeof code - m_bias));
  }
}

bool Stepper::isCaught(int signal) const {
  std::ifstream status(std::format("/proc/{}/status", m_process));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigCgt:")) return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1)) & 1;
  return false;
}

Outcome<void> Stepper::setMask(bool masked) {
  if (m_masked == masked) return {};
  for (std::size_t i = 0; i < m_options.ranges.size(); ++i) {
    const Range& range = m_options.ranges[i];
    const std::string& original = m_original[i];
    const std::string traps(original.size(), char(kBreakpoint));
    if (::pwrite(m_memory, masked ? traps.data() : original.data(), original.size(),
                 off_t(range.start + m_bias)) != ssize_t(original.size()))
      return std::unexpected("the program's text cannot be written");
  }
  m_masked = masked;
  return {};
}

Outcome<void> Stepper::prepare(const std::string& path) {
  auto entry = entryPoint(path);
  if (!entry) return std::unexpected(entry.error());
  std::ifstream auxv(std::format("/proc/{}/auxv", m_process), std::ios::binary);
  for (Elf64_auxv_t value; auxv.read(reinterpret_cast<char*>(&value), sizeof value);)
    if (value.a_type == AT_ENTRY) m_bias = value.a_un.a_val - *entry;

  m_memory = ::open(std::format("/proc/{}/mem", m_process).c_str(), O_RDWR | O_CLOEXEC);
  if (m_memory < 0) return std::unexpected("the program's memory cannot be opened");
  for (const Range& range : m_options.ranges) {
    std::string bytes(range.end - range.start, '\0');
    if (::pread(m_memory, bytes.data(), bytes.size(), off_t(range.start + m_bias)) != ssize_t(bytes.size()))
      return std::unexpected(std::format("{}: no code at {:#x}", path, range.start));
    m_original.push_back(std::move(bytes));
  }
  return {};
}

Task& Stepper::taskOf(pid_t tid) {
  auto [found, isNew] = m_tasks.try_emplace(tid);
  if (isNew) {
    found->second.thread = m_sequence.threads.size();
    m_sequence.threads.emplace_back().tid = std::uint32_t(tid);
  }
  return found->second;
}

// Lets a thread that stands before the instruction at `pc` go on.
Outcome<void> Stepper::resume(pid_t tid, Task& task, std::uint64_t pc, int signal) {
  auto request = PTRACE_SINGLESTEP;
  task.lastPc = 0;
  if (inRanges(pc)) {
    if (++m_inside > m_options.limit) return std::unexpected("more steps within the ranges than allowed");
    // Once only, however often a repeated instruction stops and whatever signal came between.
    task.lastPc = pc;
  } else if (m_tasks.size() == 1) {
    if (auto mask = setMask(true); !mask) return mask;
    request = PTRACE_CONT;
  } else if (++m_outside > m_options.limitOutside) {
    return std::unexpected("more steps outside the ranges than allowed");
  }
  if (::ptrace(request, tid, 0, signal) != 0 && errno != ESRCH)
    return std::unexpected(std::string("stepping fails: ") + std::strerror(errno));
  return {};
}

Outcome<void> Stepper::onTrap(pid_t tid, Task& task) {
  std::uint64_t pc = pcOf(tid);
  const std::uint64_t before = task.lastPc;
  if (m_masked && inRanges(pc - 1)) {
    --pc;
    ::ptrace(PTRACE_POKEUSER, tid, offsetof(user_regs_struct, rip), pc);
    if (auto mask = setMask(false); !mask) return mask;
  }
  addUnseen(task, pc);
  if (inRanges(pc) && !(pc == before && isRepeated(pc)))
    m_sequence.threads[task.thread].addresses.push_back(std::uint32_t(pc - m_bias));
  return resume(tid, task, pc, 0);
}

Outcome<void> Stepper::onSignal(pid_t tid, Task& task, int signal) {
  siginfo_t info{};
  if (::ptrace(PTRACE_GETSIGINFO, tid, 0, &info) != 0)
    return resume(tid, task, pcOf(tid), 0);  // a group stop
  const std::uint64_t pc = pcOf(tid);
  ThreadSequence& thread = m_sequence.threads[task.thread];
  const bool synchronous =
      (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL) && info.si_code > 0;
  // The instruction before which a sent signal came has not begun: it will be met again, after the handler.
  if (!synchronous && task.lastPc == pc && pc != 0 && isCaught(signal) && !thread.addresses.empty())
    thread.addresses.pop_back();
  thread.received.push_back(
      {thread.addresses.size(), pc - m_bias, std::uint32_t(signal), synchronous ? 1U : 0U});
  // Either a handler's first instruction comes next, or what is at pc, or nothing at all.
  const auto request = m_masked ? PTRACE_CONT : PTRACE_SINGLESTEP;
  if (::ptrace(request, tid, 0, signal) != 0 && errno != ESRCH)
    return std::unexpected(std::string("delivering a signal fails: ") + std::strerror(errno));
  return {};
}

Outcome<void> Stepper::onStop(pid_t tid, Task& task, int status) {
  const int signal = WSTOPSIG(status);
  const int event = status >> 16;
  if (event == PTRACE_EVENT_CLONE) {
    unsigned long child = 0;
    ::ptrace(PTRACE_GETEVENTMSG, tid, 0, &child);
    taskOf(pid_t(child));
    if (auto mask = setMask(false); !mask) return mask;
    return resume(tid, task, pcOf(tid), 0);
  }
  if (!task.started) {
    task.started = true;
    if (signal == SIGSTOP) return resume(tid, task, pcOf(tid), 0);
  }
  if (event != 0) return resume(tid, task, pcOf(tid), 0);
  if (signal == SIGTRAP) return onTrap(tid, task);
  return onSignal(tid, task, signal);
}

void Stepper::onEnd(pid_t tid, int status) {
  auto task = m_tasks.find(tid);
  if (task == m_tasks.end()) return;
  // A thread whose last stop was for the signal that ended it is the one at fault; the others were killed.
  ThreadSequence& thread = m_sequence.threads[task->second.thread];
  if (WIFSIGNALED(status) &&
      (thread.received.empty() || thread.received.back().signal != std::uint32_t(WTERMSIG(status))))
    thread.marks |= kThreadCutShort;
  m_tasks.erase(task);
  if (tid == m_process) m_sequence.waitStatus = status;
}

Outcome<Sequence> Stepper::run(const std::string& path) {
  int status = 0;
  if (::waitpid(m_process, &status, __WALL) != m_process || !WIFSTOPPED(status)) {
    m_ended = true;
    return std::unexpected(path + ": does not start");
  }
  if (auto ready = prepare(path); !ready) return std::unexpected(ready.error());
  ::ptrace(PTRACE_SETOPTIONS, m_process, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE);
  Task& first = taskOf(m_process);
  first.started = true;
  if (auto resumed = resume(m_process, first, pcOf(m_process), 0); !resumed)
    return std::unexpected(resumed.error());

  while (!m_tasks.empty()) {
    const pid_t tid = ::waitpid(-1, &status, __WALL);
    if (tid < 0) return std::unexpected(std::string("waiting fails: ") + std::strerror(errno));
    if (WIFSTOPPED(status)) {
      if (auto stopped = onStop(tid, taskOf(tid), status); !stopped) return std::unexpected(stopped.error());
    } else {
      onEnd(tid, status);
    }
  }
  m_ended = true;
  return std::move(m_sequence);
}

}  // namespace

Outcome<Sequence> stepProgram(const std::vector<std::string>& argv, const StepOptions& options) {
  if (argv.empty()) return std::unexpected("no program");
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  if (!options.name.empty()) arguments[0] = const_cast<char*>(options.name.c_str());
  const pid_t child = ::fork();
  if (child < 0) return std::unexpected("no process can be made");
  if (child == 0) {
    ::personality(ADDR_NO_RANDOMIZE);
    ::ptrace(PTRACE_TRACEME, 0, 0, 0);
    ::execv(argv[0].c_str(), arguments.data());
    ::_exit(127);
  }
  Stepper stepper(child, options);
  return stepper.run(argv[0]);
}

}  // namespace traceback::truth
