// Throws, asks for snaps and exits, with traced code between.
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

extern "C" {
#include "module.h"
int c_snap(const char* reason);
}
#include "runtime/inject/traceback.h"

namespace {

volatile std::uint64_t counter;

namespace shop {
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Tagged {
  virtual ~Tagged() = default;
};
struct Both : Tagged, Error {
  using Error::Error;
};
template <typename T>
struct Of : Error {
  using Error::Error;
};
}  // namespace shop

template <typename Thrown>
[[gnu::noinline]] void thrown(const Thrown& value) {
  count(&counter, 1);
  try {
    throw value;
  } catch (...) {
    count(&counter, 1);
  }
}

[[gnu::noinline]] int fromHere() { return traceback_snap("again"); }

void* inThread(void*) {
  count(&counter, 3);
  std::printf("thread %d\n", traceback_snap("from a thread"));
  return nullptr;
}

volatile int childrenEnded;
void childEnded(int) { childrenEnded = childrenEnded + 1; }

void inHandler(int signal) {
  traced_handler(signal);
  std::printf("handler %d\n", traceback_snap("from a handler"));
}

void calls() {
  errno = 55;
  std::printf("c %d\n", c_snap("from C"));
  std::printf("c++ %d\n", traceback_snap("from C++, \"quoted\" --x"));
  std::printf("none %d\n", traceback_snap(nullptr));
  for (int i = 0; i < 3; ++i) std::printf("again %d\n", fromHere());
  std::printf("errno %d\n", errno);
  pthread_t thread;
  pthread_create(&thread, nullptr, inThread, nullptr);
  pthread_join(thread, nullptr);
  std::signal(SIGUSR1, inHandler);
  std::raise(SIGUSR1);
}

// Who writes the snap is nobody's child.
void childless() {
  std::signal(SIGCHLD, childEnded);
  std::printf("snap %d\n", fromHere());
  const pid_t found = waitpid(-1, nullptr, WNOHANG);
  std::printf("child %d %d, ended %d\n", found, errno == ECHILD, childrenEnded);
  std::signal(SIGCHLD, SIG_IGN);
  std::printf("snap %d\n", traceback_snap("children are ignored"));
}

void throws() {
  for (int i = 0; i < 3; ++i) {
    thrown(std::out_of_range("far"));
    thrown(std::string("text"));
    thrown(7);
    thrown(shop::Both("both"));
    thrown(shop::Of<int>("of"));
  }
  try {
    (void)std::string("short").at(20);  // thrown by the C++ library itself
  } catch (const std::out_of_range&) {
    count(&counter, 1);
  }
}

// An exception that was thrown, twice more, and one that was not, of the same type.
void throwsAgain() {
  std::exception_ptr kept;
  const auto again = [&] {
    count(&counter, 1);
    try {
      std::rethrow_exception(kept);
    } catch (const std::out_of_range& error) {
      std::puts(error.what());
    }
  };
  try {
    throw std::out_of_range("kept");
  } catch (...) {
    kept = std::current_exception();
  }
  again();
  again();
  kept = nullptr;
  kept = std::make_exception_ptr(std::out_of_range("made"));
  again();
}

}  // namespace

int main(int argc, char** argv) {
  count(&counter, 10);
  const char* how = argc > 1 ? argv[1] : "";
  if (std::strcmp(how, "calls") == 0) calls();
  if (std::strcmp(how, "throws") == 0) throws();
  if (std::strcmp(how, "throws again") == 0) throwsAgain();
  if (std::strcmp(how, "childless") == 0) childless();
  if (std::strcmp(how, "changes") == 0) {
    thrown(1);
    const int file = open(argv[2], O_WRONLY | O_TRUNC);
    const char rule[] = "snap exception int\n";
    if (write(file, rule, sizeof rule - 1) < 0 || close(file) != 0) return 9;
    fromHere();  // looks at the policy
    thrown(2);
  }
  if (std::strcmp(how, "exit") == 0) std::exit(std::atoi(argv[2]));
  if (std::strcmp(how, "_exit") == 0) _exit(std::atoi(argv[2]));
  if (std::strcmp(how, "return") == 0) return std::atoi(argv[2]);
  if (std::strcmp(how, "terminate") == 0) std::raise(SIGTERM);
  if (std::strcmp(how, "abort") == 0) std::abort();
  std::printf("%lu\n", static_cast<unsigned long>(counter));
  return 0;
}
