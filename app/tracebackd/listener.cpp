#include "app/tracebackd/listener.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "runtime/collect/files/private_folder.h"

namespace traceback::app {

namespace {

constexpr int kFirstPassed = 3;  // SD_LISTEN_FDS_START
constexpr int kMostWaiting = 64;

int optionOf(int socket, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

// Nothing if none was meant for this process.
std::optional<model::Result<collect::SystemFile>> passedSocket() {
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  const bool meant = pid != nullptr && count != nullptr && std::to_string(::getpid()) == pid;
  const bool one = meant && std::string(count) == "1";
  for (const char* each : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(each);
  if (!meant) return std::nullopt;
  if (!one) return model::fail("takes one socket from systemd, and got another number of them");
  collect::SystemFile socket(kFirstPassed);
  if (optionOf(kFirstPassed, SO_DOMAIN) != AF_UNIX || optionOf(kFirstPassed, SO_TYPE) != SOCK_SEQPACKET ||
      optionOf(kFirstPassed, SO_ACCEPTCONN) != 1)
    return model::fail("got no listening socket from systemd: it takes ListenSequentialPacket=");
  if (::fcntl(kFirstPassed, F_SETFD, FD_CLOEXEC) != 0 || ::fcntl(kFirstPassed, F_SETFL, O_NONBLOCK) != 0)
    return collect::failWithErrno("the socket cannot be set up");
  return socket;
}

}  // namespace

model::Result<Listener> listenAt(const std::filesystem::path& path) {
  Listener listener;
  if (auto passed = passedSocket()) {
    if (!*passed) return std::unexpected(passed->error());
    listener.socket = std::move(**passed);
    return listener;
  }
  if (const auto made = collect::makePrivateFolder(path.parent_path()); !made)
    return std::unexpected(made.error());
  struct sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.string().size() >= sizeof address.sun_path)
    return model::fail("is too long for the name of a socket", path.string());
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);

  const std::filesystem::path lock = path.string() + ".lock";
  listener.lock =
      collect::SystemFile(::open(lock.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600));
  if (!listener.lock.isOpen()) return collect::failWithErrno("cannot be opened", lock);
  if (::flock(listener.lock.descriptor(), LOCK_EX | LOCK_NB) != 0)
    return model::fail("another service is running there", path.string());
  // Left by one that was killed: whoever holds the lock is alone.
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return collect::failWithErrno("what is there cannot be removed", path);
  listener.socket = collect::SystemFile(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const mode_t before = ::umask(0177);
  const bool bound = listener.socket.isOpen() &&
                     ::bind(listener.socket.descriptor(), reinterpret_cast<const struct sockaddr*>(&address),
                            sizeof address) == 0;
  const int error = errno;
  ::umask(before);
  errno = error;
  if (!bound) return collect::failWithErrno("no socket can be made there", path);
  if (::listen(listener.socket.descriptor(), kMostWaiting) != 0)
    return collect::failWithErrno("cannot be listened at", path);
  listener.path = path;
  return listener;
}

}  // namespace traceback::app
