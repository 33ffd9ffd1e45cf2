// Signals that would end this process, kept from it while there is something to put away.
#pragma once

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

// While it is there, such signals call the handler. Calls that they interrupt are made again.
class OwnInterrupts {
 public:
  OwnInterrupts(const std::vector<int>& signals, void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    for (const int signal : signals) {
      m_former.push_back({signal, {}});
      sigaction(signal, &action, &m_former.back().second);
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
