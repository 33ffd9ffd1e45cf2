// A process that is stepped through some ranges of its executable, and runs freely everywhere else.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace traceback::truth {

struct CodeRange {
  std::uint64_t start, end;  // link-time addresses
};

struct Mapping {
  std::uint64_t start = 0, end = 0;
  std::uint64_t fileStart = 0;  // where the file's first mapping begins
  std::string name;             // path, "[heap]" and so on; empty if anonymous
};

class SteppedProcess {
 public:
  // What the kernel's random bytes are replaced by: stack canaries and mangled pointers are made of them.
  static constexpr char kRandom[] = "0123456789abcdef";

  SteppedProcess() = default;
  ~SteppedProcess();
  SteppedProcess(const SteppedProcess&) = delete;
  SteppedProcess& operator=(const SteppedProcess&) = delete;

  // Starts it up to its first instruction, without randomized addresses, and with the random bytes that the
  // kernel gives it fixed. `ranges` sorted.
  std::expected<void, std::string> start(const std::string& path, const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& environment, std::uint64_t entry,
                                         std::vector<CodeRange> ranges);

  enum class Stop { Step, Signal, End };
  // One instruction, if it stands within the ranges; else on, until it comes there.
  std::expected<Stop, std::string> advance();

  pid_t pid() const { return m_pid; }
  std::uint64_t bias() const { return m_bias; }
  std::uint64_t pc() const { return m_registers.rip; }
  std::uint64_t linkPc() const { return m_registers.rip - m_bias; }
  bool inRanges() const { return contains(linkPc()); }
  const user_regs_struct& registers() const { return m_registers; }
  int signal() const { return m_signal; }  // that it is about to get
  int status() const { return m_status; }  // as waitpid gives it, at its end
  bool read(std::uint64_t address, std::span<std::uint64_t> words) const;
  bool write(std::uint64_t address, std::span<const std::uint64_t> words);
  bool setRegisters(const user_regs_struct& registers);
  bool floating(user_fpregs_struct& state) const;
  // Where its heap ends; moves the end of one that has not been used yet.
  std::uint64_t heapStart() const;
  bool moveHeap(std::uint64_t to);
  const std::vector<Mapping>& mappings(bool again);

 private:
  bool contains(std::uint64_t address) const;
  bool setMask(bool masked);

  pid_t m_pid = -1;
  bool m_ended = true, m_masked = false;
  int m_memory = -1, m_signal = 0, m_status = 0;
  std::uint64_t m_bias = 0;
  user_regs_struct m_registers{};
  std::vector<CodeRange> m_ranges;
  std::vector<std::string> m_code;  // of each range
  std::vector<Mapping> m_mappings;
};

}  // namespace traceback::truth
