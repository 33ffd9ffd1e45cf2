// Signals that would end this process, kept from it while there is something to put away.
#pragma once

#include <atomic>
#include <csignal>
#include <utility>
#include <vector>

namespace traceback::app {

// Of these signals, those that are not ignored: what is executed later inherits that, but no handler.
inline std::vector<int> heeded(std::vector<int> signals) {
  std::erase_if(signals, [](int signal) {
    struct sigaction action{};
    return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  });
  return signals;
}

// Calls that it interrupts are made again. Gives what there was before. Not by `signal`, which libraries that
// chain handlers warn of.
inline struct sigaction setHandler(int signal, void (*handler)(int)) {
  struct sigaction action{}, former{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, &former);
  return former;
}

// While it is there, the signal that came last is noted, and those to be left do nothing. Calls that they
// interrupt are made again. One at a time.
class OwnInterrupts {
 public:
  explicit OwnInterrupts(const std::vector<int>& toNote, const std::vector<int>& toLeave = {}) {
    s_noted = 0;
    handle(toNote, [](int signal) { s_noted = signal; });
    handle(toLeave, [](int) {});
  }
  ~OwnInterrupts() {
    for (const auto& [signal, action] : m_former) sigaction(signal, &action, nullptr);
  }
  OwnInterrupts(const OwnInterrupts&) = delete;
  OwnInterrupts& operator=(const OwnInterrupts&) = delete;

  // 0 if none came.
  int noted() const { return s_noted; }
  int takeNoted() { return s_noted.exchange(0); }

 private:
  void handle(const std::vector<int>& signals, void (*handler)(int)) {
    for (const int signal : signals) m_former.emplace_back(signal, setHandler(signal, handler));
  }

  static inline std::atomic<int> s_noted = 0;
  static_assert(std::atomic<int>::is_always_lock_free);  // or no handler may store it
  std::vector<std::pair<int, struct sigaction>> m_former;
};

}  // namespace traceback::app
