#include "runtime/collect/service/service_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/collect/files/private_folder.h"
#include "runtime/collect/files/process_folder.h"

namespace traceback::collect {

std::filesystem::path serviceSocket(const std::filesystem::path& ringFolder) {
  // Where root has no folder of a session, its ring folder is in /dev/shm, its service where services are.
  constexpr char kOfRoot[] = "/dev/shm/traceback-0";
  return (ringFolder == kOfRoot ? std::filesystem::path(format::kServiceRootFolder) : ringFolder) /
         format::kServiceSocketName;
}

std::optional<Peer> peerOf(int socket) {
  struct ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer)
    return std::nullopt;
  return Peer{peer.pid, peer.uid};
}

Packet receivePacket(int socket) {
  Packet packet;
  packet.bytes.resize(kMostMessage + 1);
  const ssize_t got = ::recv(socket, packet.bytes.data(), packet.bytes.size(), MSG_DONTWAIT | MSG_TRUNC);
  packet.closed = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
  packet.bytes.resize(got > 0 ? std::min(static_cast<std::size_t>(got), packet.bytes.size()) : 0);
  return packet;
}

bool sendPacket(int socket, const Message& message) {
  const Bytes packet = encode(message);
  return ::send(socket, packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(packet.size());
}

model::Result<ServiceConnection> ServiceConnection::open(const std::filesystem::path& ringFolder) {
  const std::filesystem::path path = serviceSocket(ringFolder);
  if (const auto isPrivate = checkPrivateFolder(path.parent_path()); !isPrivate)
    return std::unexpected(isPrivate.error());
  struct sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.string().size() >= sizeof address.sun_path)
    return model::fail("is too long for the name of a socket", path.string());
  std::memcpy(address.sun_path, path.c_str(), path.string().size() + 1);
  SystemFile socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  // Nobody waits here for a service that is too busy to accept.
  const struct timeval patience{.tv_sec = 1, .tv_usec = 0};
  if (socket.isOpen()) ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (!socket.isOpen() ||
      ::connect(socket.descriptor(), reinterpret_cast<const struct sockaddr*>(&address), sizeof address) != 0)
    return failWithErrno("the service does not answer", path);
  const auto peer = peerOf(socket.descriptor());
  if (!peer || (peer->uid != ::geteuid() && peer->uid != 0))
    return model::fail("is the service of another user", path.string());
  return ServiceConnection(std::move(socket));
}

std::optional<Message> ServiceConnection::receive(std::chrono::milliseconds patience) const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    struct pollfd waiting{m_socket.descriptor(), POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR && left > 0) continue;
    if (ready <= 0) return std::nullopt;
    const Packet packet = receivePacket(m_socket.descriptor());
    if (packet.closed) return std::nullopt;
    if (packet.bytes.empty()) continue;
    auto message = decode(packet.bytes);
    return message ? std::optional(std::move(*message)) : std::nullopt;
  }
}

format::ServiceProcess describeProcess(const std::filesystem::path& processFolder,
                                       const format::ProcessHeader& header,
                                       const std::filesystem::path& snapFolder, const SiteRules& rules) {
  format::ServiceProcess process{};
  process.pid = header.pid;
  process.start = header.processStart;
  const std::string program = programNameIn(processFolder);
  setField(process.group, rules.groupOf(program));
  setField(process.program, program);
  setField(process.snapFolder, snapFolder.string());
  return process;
}

std::optional<GroupEvent> announceBreakDown(const std::filesystem::path& processFolder,
                                            const format::ProcessHeader& header,
                                            const std::filesystem::path& snapFolder,
                                            format::SnapReason reason, const SiteRules& rules) {
  BreakDown breakDown{describeProcess(processFolder, header, snapFolder, rules)};
  if (breakDown.group[0] == 0) return std::nullopt;
  const auto service = ServiceConnection::open(processFolder.parent_path());
  if (!service) return std::nullopt;
  breakDown.reason = static_cast<std::uint32_t>(reason);
  constexpr std::chrono::milliseconds kPatience{500};
  const auto answer = service->send(breakDown) ? service->receive(kPatience) : std::nullopt;
  const GroupEvent* event = answer ? std::get_if<GroupEvent>(&*answer) : nullptr;
  return event != nullptr && !event->members.empty() ? std::optional(*event) : std::nullopt;
}

}  // namespace traceback::collect
