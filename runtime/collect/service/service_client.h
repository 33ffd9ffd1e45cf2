// Talking to the service (runtime/format/service.h), where there is one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>

#include "model/error.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/collect/rules/site_rules.h"
#include "runtime/collect/service/service_message.h"
#include "runtime/format/process.h"
#include "runtime/format/snap.h"

namespace traceback::collect {

// The socket of the service that goes with a ring folder.
std::filesystem::path serviceSocket(const std::filesystem::path& ringFolder);

// Who is at the other end of a Unix socket; nothing if that cannot be said.
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};
std::optional<Peer> peerOf(int socket);

// One packet; nothing if there is none now, or the other side is gone (`closed` then), or it is longer than
// any message.
struct Packet {
  Bytes bytes;
  bool closed = false;
};
Packet receivePacket(int socket);
// Without waiting: false if it could not be handed over as a whole.
bool sendPacket(int socket, const Message& message);

class ServiceConnection {
 public:
  // Fails if there is no service, or it is another user's.
  static model::Result<ServiceConnection> open(const std::filesystem::path& ringFolder);

  int descriptor() const { return m_socket.descriptor(); }
  bool send(const Message& message) const { return sendPacket(m_socket.descriptor(), message); }
  // Nothing if none has come in that time, or the service is gone.
  std::optional<Message> receive(std::chrono::milliseconds patience) const;

 private:
  explicit ServiceConnection(SystemFile socket) : m_socket(std::move(socket)) {}
  SystemFile m_socket;
};

// What the service is told of a process. `snapFolder` is where its snaps go.
format::ServiceProcess describeProcess(const std::filesystem::path& processFolder,
                                       const format::ProcessHeader& header,
                                       const std::filesystem::path& snapFolder, const SiteRules& rules);

// Tells the service that a process is about to be snapped, so that its group is, too. Nothing if it has no
// group, there is no service, or nobody else is snapped. Waits for half a second at most.
std::optional<GroupEvent> announceBreakDown(const std::filesystem::path& processFolder,
                                            const format::ProcessHeader& header,
                                            const std::filesystem::path& snapFolder,
                                            format::SnapReason reason, const SiteRules& rules);

}  // namespace traceback::collect
