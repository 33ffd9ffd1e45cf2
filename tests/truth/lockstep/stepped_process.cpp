#include "tests/truth/lockstep/stepped_process.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <format>
#include <fstream>
#include <sstream>

namespace traceback::truth {

namespace {

std::vector<char*> pointersTo(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

SteppedProcess::~SteppedProcess() {
  if (m_memory >= 0) ::close(m_memory);
  if (m_ended) return;
  ::kill(m_pid, SIGKILL);
  int status = 0;
  ::waitpid(m_pid, &status, __WALL);
}

std::expected<void, std::string> SteppedProcess::start(const std::string& path,
                                                       const std::vector<std::string>& arguments,
                                                       const std::vector<std::string>& environment,
                                                       std::uint64_t entry, std::vector<CodeRange> ranges) {
  m_ranges = std::move(ranges);
  const auto argv = pointersTo(arguments), envp = pointersTo(environment);
  m_pid = ::fork();
  if (m_pid < 0) return std::unexpected("no process can be made");
  if (m_pid == 0) {
    ::personality(ADDR_NO_RANDOMIZE);
    ::ptrace(PTRACE_TRACEME, 0, 0, 0);
    ::execve(path.c_str(), argv.data(), envp.data());
    ::_exit(127);
  }
  m_ended = false;
  int status = 0;
  if (::waitpid(m_pid, &status, __WALL) != m_pid || !WIFSTOPPED(status)) {
    m_ended = true;
    return std::unexpected(path + ": does not start");
  }
  ::ptrace(PTRACE_SETOPTIONS, m_pid, 0, PTRACE_O_EXITKILL);
  m_memory = ::open(std::format("/proc/{}/mem", m_pid).c_str(), O_RDWR | O_CLOEXEC);
  if (m_memory < 0) return std::unexpected("the program's memory cannot be opened");
  std::ifstream auxv(std::format("/proc/{}/auxv", m_pid), std::ios::binary);
  for (Elf64_auxv_t value; auxv.read(reinterpret_cast<char*>(&value), sizeof value);) {
    if (value.a_type == AT_ENTRY) m_bias = value.a_un.a_val - entry;
    if (value.a_type == AT_RANDOM && ::pwrite(m_memory, kRandom, 16, off_t(value.a_un.a_val)) != 16)
      return std::unexpected("the program's memory cannot be written");
  }
  for (const CodeRange& range : m_ranges) {
    std::string& code = m_code.emplace_back(range.end - range.start, '\0');
    if (::pread(m_memory, code.data(), code.size(), off_t(range.start + m_bias)) != ssize_t(code.size()))
      return std::unexpected(std::format("{}: no code at {:#x}", path, range.start));
  }
  ::ptrace(PTRACE_GETREGS, m_pid, 0, &m_registers);
  return {};
}

bool SteppedProcess::contains(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(m_ranges, address, {}, &CodeRange::start);
  return after != m_ranges.begin() && address < std::prev(after)->end;
}

bool SteppedProcess::setMask(bool masked) {
  if (m_masked == masked) return true;
  for (std::size_t i = 0; i < m_ranges.size(); ++i) {
    const std::string traps(m_code[i].size(), '\xCC');
    const std::string& bytes = masked ? traps : m_code[i];
    if (::pwrite(m_memory, bytes.data(), bytes.size(), off_t(m_ranges[i].start + m_bias)) !=
        ssize_t(bytes.size()))
      return false;
  }
  m_masked = masked;
  return true;
}

std::expected<SteppedProcess::Stop, std::string> SteppedProcess::advance() {
  const bool inside = inRanges();
  if (!setMask(!inside)) return std::unexpected("the program's text cannot be written");
  const int deliver = m_signal;
  m_signal = 0;
  // After a signal a handler may be next, wherever that is.
  if (::ptrace(inside || deliver != 0 ? PTRACE_SINGLESTEP : PTRACE_CONT, m_pid, 0, deliver) != 0)
    return std::unexpected(std::string("stepping fails: ") + std::strerror(errno));
  int status = 0;
  if (::waitpid(m_pid, &status, __WALL) != m_pid)
    return std::unexpected(std::string("waiting fails: ") + std::strerror(errno));
  if (!WIFSTOPPED(status)) {
    m_ended = true;
    m_status = status;
    return Stop::End;
  }
  ::ptrace(PTRACE_GETREGS, m_pid, 0, &m_registers);
  if (WSTOPSIG(status) != SIGTRAP) {
    m_signal = WSTOPSIG(status);
    return Stop::Signal;
  }
  if (m_masked && deliver == 0 && contains(linkPc() - 1)) {
    --m_registers.rip;
    ::ptrace(PTRACE_SETREGS, m_pid, 0, &m_registers);
    if (!setMask(false)) return std::unexpected("the program's text cannot be written");
  }
  return Stop::Step;
}

bool SteppedProcess::read(std::uint64_t address, std::span<std::uint64_t> words) const {
  const iovec here{words.data(), words.size_bytes()},
      there{reinterpret_cast<void*>(address), words.size_bytes()};
  return ::process_vm_readv(m_pid, &here, 1, &there, 1, 0) == ssize_t(words.size_bytes());
}

bool SteppedProcess::write(std::uint64_t address, std::span<const std::uint64_t> words) {
  return ::pwrite(m_memory, words.data(), words.size_bytes(), off_t(address)) == ssize_t(words.size_bytes());
}

bool SteppedProcess::setRegisters(const user_regs_struct& registers) {
  m_registers = registers;
  return ::ptrace(PTRACE_SETREGS, m_pid, 0, &m_registers) == 0;
}

std::uint64_t SteppedProcess::heapStart() const {
  std::ifstream file(std::format("/proc/{}/stat", m_pid));
  std::string line;
  std::getline(file, line);
  std::istringstream words(line.substr(line.rfind(')') + 2));
  std::string word;
  constexpr int kStartBrk = 45;  // the 47th of all
  for (int i = 0; i < kStartBrk; ++i) words >> word;
  return std::stoull(word);
}

// By a system call in its name, before its first instruction.
bool SteppedProcess::moveHeap(std::uint64_t to) {
  constexpr std::uint64_t kSystemCall = 0x050F;
  const user_regs_struct before = m_registers;
  std::uint64_t code[1] = {};
  if (!read(before.rip, code)) return false;
  const std::uint64_t call[1] = {(code[0] & ~std::uint64_t{0xFFFF}) | kSystemCall};
  user_regs_struct registers = before;
  registers.rax = SYS_brk;
  registers.rdi = to;
  int status = 0;
  if (!write(before.rip, call) || !setRegisters(registers) || ::ptrace(PTRACE_SINGLESTEP, m_pid, 0, 0) != 0 ||
      ::waitpid(m_pid, &status, __WALL) != m_pid)
    return false;
  ::ptrace(PTRACE_GETREGS, m_pid, 0, &registers);
  return write(before.rip, code) && setRegisters(before) && registers.rax == to;
}

bool SteppedProcess::floating(user_fpregs_struct& state) const {
  return ::ptrace(PTRACE_GETFPREGS, m_pid, 0, &state) == 0;
}

const std::vector<Mapping>& SteppedProcess::mappings(bool again) {
  if (!again && !m_mappings.empty()) return m_mappings;
  m_mappings.clear();
  std::ifstream maps(std::format("/proc/{}/maps", m_pid));
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    Mapping mapping;
    std::string range, permissions, offset, device, inode;
    words >> range >> permissions >> offset >> device >> inode >> mapping.name;
    const std::size_t dash = range.find('-');
    mapping.start = std::stoull(range.substr(0, dash), nullptr, 16);
    mapping.end = std::stoull(range.substr(dash + 1), nullptr, 16);
    mapping.fileStart = mapping.start;
    for (const Mapping& earlier : m_mappings)
      if (!mapping.name.empty() && earlier.name == mapping.name) mapping.fileStart = earlier.fileStart;
    m_mappings.push_back(std::move(mapping));
  }
  return m_mappings;
}

}  // namespace traceback::truth
