// Stopping a process's threads and reading their registers.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <optional>
#include <string>
#include <vector>

#include "model/error.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/collect/watch/thread_wait.h"

namespace traceback::collect {

struct ThreadSnapshot {
  pid_t tid = 0;
  std::string name;
  bool hasRegisters = false;
  user_regs_struct registers{};
  Bytes extendedRegisters;  // the XSAVE area; empty if it could not be had
  std::optional<ThreadWait> wait;
};

// By their numbers, ascending; none if there is no such process.
std::vector<pid_t> threadsOf(pid_t pid);

// Every thread of a process, stopped from the call of stop() until this goes away. However the calling
// program ends, the kernel lets the threads go on.
class StoppedProcess {
 public:
  static model::Result<StoppedProcess> stop(pid_t pid);
  StoppedProcess(StoppedProcess&& other) noexcept;
  StoppedProcess& operator=(StoppedProcess&&) = delete;
  ~StoppedProcess();

  const std::vector<ThreadSnapshot>& threads() const { return m_threads; }

 private:
  struct Attached {
    pid_t tid;
    bool stopped;
    int signal;  // that was about to be delivered, and goes on its way when we let go
  };
  explicit StoppedProcess(pid_t pid) : m_pid(pid) {}
  bool attachNewThreads(int& lastError);
  void waitForStops();
  void readThread(const Attached& thread);

  pid_t m_pid;
  std::vector<Attached> m_attached;
  std::vector<ThreadSnapshot> m_threads;
};

}  // namespace traceback::collect
