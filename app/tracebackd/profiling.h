// `traceback profile` of a recorded process, as a process of its own: one at a time.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "model/error.h"

namespace traceback::app {

class Profiling {
 public:
  // The command is `traceback`.
  explicit Profiling(std::filesystem::path command) : m_command(std::move(command)) {}
  // Interrupts what runs, which keeps what it has counted.
  ~Profiling();
  Profiling(const Profiling&) = delete;
  Profiling& operator=(const Profiling&) = delete;

  bool isRunning() const { return m_child > 0; }
  // Counts for a minute, unless something is kept of the program already. Nothing may be running.
  model::Result<void> start(pid_t process);
  // Of what has ended since: whether it did what it should.
  std::optional<bool> ended();

 private:
  std::filesystem::path m_command;
  pid_t m_child = 0;
};

}  // namespace traceback::app
