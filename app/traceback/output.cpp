#include "app/traceback/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <format>

#include "app/traceback/command.h"
#include "app/traceback/say.h"
#include "model/utf8.h"

namespace traceback::app {

int finishOutput() {
  flushOut();
  const int error = outputError();
  if (error == 0 || error == EPIPE) return kDone;
  return complain({.message = std::format("cannot write: {}", std::strerror(error)),
                   .file = "standard output",
                   .offset = {}});
}

std::string humanSize(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"bytes", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? std::format("{} bytes", bytes) : std::format("{:.1f} {}", value, kUnits[unit]);
}

std::string countsAsJson(const std::map<std::string, std::uint64_t>& counts) {
  std::string out;
  for (const auto& [reason, count] : counts)
    out += std::format("{}{}:{}", out.empty() ? "" : ",", model::jsonString(reason), count);
  return "{" + out + "}";
}

int complain(const model::Error& error) {
  tellLine("traceback: {}", model::printable(error.text()));
  return kBadInput;
}

int complainAboutCall(const std::string& message) {
  tellLine("traceback: {} (see traceback --help)", model::printable(message));
  return kBadCall;
}

ProgressLine::ProgressLine(std::string what)
    : m_what(std::move(what)), m_terminal(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (m_shown >= 0) tell("\r\033[K");
}

void ProgressLine::show(double part) {
  const int percent = static_cast<int>(part * 100);
  if (!m_terminal || percent == m_shown) return;
  if (std::chrono::steady_clock::now() - m_start < std::chrono::seconds(1)) return;
  m_shown = percent;
  tell("\r{} {:3} %\033[K", m_what, percent);
}

}  // namespace traceback::app
