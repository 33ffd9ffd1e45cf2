// Debug information and sources from debuginfod servers, by build id: only if the user has set
// DEBUGINFOD_URLS (debuginfod(8), debuginfod_find_debuginfo(3)).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "model/error.h"

namespace traceback::loader {

// Asks the servers that DEBUGINFOD_URLS names, one question at a time; for one thread. What was fetched stays
// in debuginfod's own cache, which is asked first.
class Debuginfod {
 public:
  // Called some times a second while something is being fetched, with the bytes that are there and of how
  // many (0: not known). False ends it.
  using GoOn = std::function<bool(std::uint64_t done, std::uint64_t total)>;

  explicit Debuginfod(GoOn goOn = {});
  ~Debuginfod();
  Debuginfod(const Debuginfod&) = delete;
  Debuginfod& operator=(const Debuginfod&) = delete;

  // Whether the user has set DEBUGINFOD_URLS.
  static bool wanted();

  // Paths in the cache. The build id is hexadecimal; a source's path is absolute, as debug information has
  // it. Once a server could not be reached, or `goOn` ended something, nothing more is asked for: no module
  // after it has to wait for the same. Block as long as DEBUGINFOD_TIMEOUT allows.
  model::Result<std::string> debugInformation(const std::string& buildId);
  model::Result<std::string> source(const std::string& buildId, const std::string& path);

 private:
  struct Library;
  enum class What : std::uint8_t { DebugInformation, Source };
  model::Result<std::string> find(What what, const std::string& buildId, const std::string& path);
  static int progress(void* client, long done, long total);

  GoOn m_goOn;
  const Library* m_library = nullptr;
  void* m_client = nullptr;
  bool m_ended = false;  // by goOn
  std::string m_trouble;  // why nothing more is asked for
};

}  // namespace traceback::loader
