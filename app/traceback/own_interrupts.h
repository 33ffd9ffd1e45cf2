// Signals that would end this process, kept from it while there is something to put away.
#pragma once

#include <csignal>
#include <initializer_list>
#include <utility>
#include <vector>

namespace traceback::app {

// While it is there, such signals call the handler; what is executed meanwhile is ended by them as ever,
// unless they were ignored before. Calls that they interrupt are made again.
class OwnInterrupts {
 public:
  OwnInterrupts(std::initializer_list<int> signals, void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    for (const int signal : signals) {
      struct sigaction former{};
      if (sigaction(signal, nullptr, &former) != 0 || former.sa_handler == SIG_IGN) continue;
      sigaction(signal, &action, nullptr);
      m_former.emplace_back(signal, former);
    }
  }
  ~OwnInterrupts() {
    for (const auto& [signal, action] : m_former) sigaction(signal, &action, nullptr);
  }
  OwnInterrupts(const OwnInterrupts&) = delete;
  OwnInterrupts& operator=(const OwnInterrupts&) = delete;

 private:
  std::vector<std::pair<int, struct sigaction>> m_former;
};

}  // namespace traceback::app
