#include "app/traceback/say.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace traceback::app {

namespace {

int failed = 0;

// While it is there, this thread has no SIGPIPE of what it writes. No disposition is changed for it, which
// what is executed would inherit.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigset_t pending;
    ::sigemptyset(&m_pipe);
    ::sigaddset(&m_pipe, SIGPIPE);
    ::sigpending(&pending);
    m_wasPending = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &m_pipe, &m_former);
  }
  ~NoBrokenPipe() {
    constexpr timespec kAtOnce{};
    if (!m_wasPending)
      while (::sigtimedwait(&m_pipe, nullptr, &kAtOnce) < 0 && errno == EINTR) {
      }
    ::pthread_sigmask(SIG_SETMASK, &m_former, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t m_pipe, m_former;
  bool m_wasPending = false;
};

}  // namespace

bool putOut(std::string_view text) {
  const bool done = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!done && failed == 0) failed = errno;
  return done;
}

void flushOut() {
  if (std::fflush(stdout) != 0 && failed == 0) failed = errno;
}

void putError(std::string_view text) {
  const NoBrokenPipe none;
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

int outputError() { return failed == 0 && std::ferror(stdout) != 0 ? EIO : failed; }

void holdClosedStreams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (::fcntl(stream, F_GETFD) < 0)
        // The lowest that is free, for those below are taken. A standard input that cannot be read is like a
        // closed one.
        [[maybe_unused]]
      const int held = ::open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

}  // namespace traceback::app
