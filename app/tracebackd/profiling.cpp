#include "app/tracebackd/profiling.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <format>
#include <string>

namespace traceback::app {

namespace {

// Each look stops the process for some milliseconds.
constexpr const char* kSeconds = "60";
constexpr const char* kBetweenLooks = "2";

}  // namespace

Profiling::~Profiling() {
  if (!isRunning()) return;
  ::kill(m_child, SIGTERM);
  while (::waitpid(m_child, nullptr, 0) < 0 && errno == EINTR) continue;
}

model::Result<void> Profiling::start(pid_t process) {
  std::array<std::string, 9> words{"traceback", "profile", "--pid",       std::to_string(process), "--for",
                                   kSeconds,    "--every", kBetweenLooks, "--unless-kept"};
  std::array<char*, words.size() + 1> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigmask(&attributes, &none);  // the service has those blocked that end it
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int problem =
      ::posix_spawn(&m_child, m_command.c_str(), &files, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (problem == 0) return {};
  m_child = 0;
  return model::fail(std::format("cannot be started: {}", std::strerror(problem)), m_command.string());
}

std::optional<bool> Profiling::ended() {
  int status = 0;
  if (!isRunning() || ::waitpid(m_child, &status, WNOHANG) != m_child) return std::nullopt;
  m_child = 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace traceback::app
