// Standard output and standard error, for people and for scripts.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace traceback::app {

// Flushes standard output. What could not be written (a full disk) is complained about, and the exit status
// says so.
int finishOutput();

// "1.5 MB"
std::string humanSize(std::uint64_t bytes);

// {"reason":N,...}
std::string countsAsJson(const std::map<std::string, std::uint64_t>& counts);

// A line on standard error that shows how far something is, on a terminal, once it takes over a second.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(double part);  // from 0 to 1

 private:
  std::string m_what;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
  bool m_terminal;
  int m_shown = -1;  // percent
};

}  // namespace traceback::app
