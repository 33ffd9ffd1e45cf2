// The socket that the service listens at: its own, or one that systemd made (sd_listen_fds(3)).
#pragma once

#include <filesystem>

#include "model/error.h"
#include "runtime/collect/files/system_file.h"

namespace traceback::app {

struct Listener {
  collect::SystemFile socket;
  collect::SystemFile lock;      // held for as long as the socket is ours
  std::filesystem::path path;    // to be removed at the end; empty if the socket is systemd's
};

// The one that systemd handed over, else one made at `path`, in a folder that is private to the user. Fails
// if another service has it. LISTEN_PID and LISTEN_FDS are taken out of the environment.
model::Result<Listener> listenAt(const std::filesystem::path& path);

}  // namespace traceback::app
