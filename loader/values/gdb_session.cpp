#include "loader/values/gdb_session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <format>

namespace traceback::loader {

namespace {

using Clock = std::chrono::steady_clock;

// More than any answer that is of use.
constexpr std::size_t kMostAnswer = std::size_t{64} << 20;

// Both ends are ours alone; a socket, so that writing to a gdb that ended is an error and no SIGPIPE.
bool makeChannel(std::array<int, 2>& ends) {
  return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0;
}

// Null, or the error.
int spawnGdb(pid_t& process, int end) {
  static constexpr const char* kArguments[] = {
      "gdb", "-nx", "-q", "--interpreter=mi3", "-iex", "set debuginfod enabled off", nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own: what a terminal sends us is not for it, and whatever it starts ends with it.
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t signals;
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  const int error = posix_spawnp(&process, kArguments[0], &actions, &attributes,
                                 const_cast<char* const*>(kArguments), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

model::Result<GdbSession> GdbSession::start(Limits limits) {
  GdbSession session(std::move(limits));
  session.m_end = Clock::now() + session.m_limits.all;
  std::array<int, 2> ends{};
  if (!makeChannel(ends)) return model::fail(std::format("gdb cannot be started: {}", std::strerror(errno)));
  const int error = spawnGdb(session.m_process, ends[1]);
  ::close(ends[1]);
  session.m_channel = ends[0];
  if (error != 0) {
    session.m_process = -1;
    return model::fail(error == ENOENT ? "gdb is not installed: values of variables need it"
                                       : std::format("gdb cannot be started: {}", std::strerror(error)));
  }
  // Nothing that depends on the user's terminal, and nothing endless.
  for (const char* setting :
       {"confirm off", "width 0", "height 0", "pagination off", "backtrace limit 1000", "print elements 200",
        "print max-depth 6", "print entry-values if-needed", "max-value-size 1048576",
        "auto-load local-gdbinit off", "auto-load libthread-db off"}) {
    if (auto set = session.ask(std::string("-gdb-set ") + setting); !set && session.isLost())
      return model::fail("gdb cannot be started: " + set.error().message);
  }
  if (auto enabled = session.ask("-enable-pretty-printing"); !enabled && session.isLost())
    return model::fail("gdb cannot be started: " + enabled.error().message);
  return session;
}

GdbSession::~GdbSession() {
  if (m_channel >= 0) ::close(m_channel);
  if (m_process <= 0) return;
  ::kill(-m_process, SIGKILL);
  while (::waitpid(m_process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::unexpected<model::Error> GdbSession::lose(std::string why) {
  m_lost = true;
  return model::fail(std::move(why));
}

bool GdbSession::send(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t sent = ::send(m_channel, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

model::Result<std::string> GdbSession::nextLine(Clock::time_point until) {
  constexpr int kGlance = 50;  // ms, to see whether stop was requested
  for (std::size_t seen = 0;;) {
    if (const auto end = m_buffer.find('\n', seen); end != std::string::npos) {
      std::string line = m_buffer.substr(0, end);
      m_buffer.erase(0, end + 1);
      return line;
    }
    seen = m_buffer.size();
    if (m_limits.stop.stop_requested()) return lose("cancelled");
    if (Clock::now() >= until) return lose("gdb takes too long");
    struct pollfd ready{.fd = m_channel, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kGlance) <= 0) continue;
    std::array<char, 65536> part;
    const ssize_t got = ::recv(m_channel, part.data(), part.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return lose("gdb ended");
    if (m_buffer.size() > kMostAnswer) return lose("gdb answers too much");
    m_buffer.append(part.data(), static_cast<std::size_t>(got));
  }
}

model::Result<MiValue> GdbSession::ask(std::string_view command) {
  if (m_lost) return model::fail("gdb ended");
  const auto token = ++m_token;
  if (!send(std::format("{}{}\n", token, command))) return lose("gdb ended");
  const auto until = std::min(m_end, Clock::now() + m_limits.answer);
  for (;;) {
    auto line = nextLine(until);
    if (!line) return std::unexpected(line.error());
    auto record = parseMiLine(*line);
    if (!record || record->kind != '^' || record->token != token) continue;
    if (record->name == "error") {
      const auto message = record->results.textOf("msg");
      return model::fail(message.empty() ? "gdb does not say why" : std::string(message));
    }
    return std::move(record->results);
  }
}

std::string miQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n')
      quoted += "\\n";
    else
      quoted += c;
  }
  return quoted + '"';
}

}  // namespace traceback::loader
