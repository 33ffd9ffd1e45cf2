#include "loader/symbols/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <format>
#include <utility>

namespace traceback::loader {

namespace {

constexpr const char* kUrls = "DEBUGINFOD_URLS";

}  // namespace

// Of <elfutils/debuginfod.h>; loaded when wanted, so that nothing depends on the library and what it pulls
// in.
struct Debuginfod::Library {
  void* (*begin)() = nullptr;
  void (*end)(void*) = nullptr;
  int (*findDebuginfo)(void*, const unsigned char*, int, char**) = nullptr;
  int (*findSource)(void*, const unsigned char*, int, const char*, char**) = nullptr;
  void (*setProgress)(void*, int (*)(void*, long, long)) = nullptr;
  void (*setUserData)(void*, void*) = nullptr;
  void* (*userData)(void*) = nullptr;

  // Null if it is not installed, or too old to be stopped.
  static const Library* loaded() {
    static const Library library = load();
    return library.userData != nullptr ? &library : nullptr;
  }

 private:
  static Library load() {
    Library library;
    // Never unloaded: it starts what must not lose its code.
    void* file = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const bool all = file != nullptr && take(file, "debuginfod_begin", library.begin) &&
                     take(file, "debuginfod_end", library.end) &&
                     take(file, "debuginfod_find_debuginfo", library.findDebuginfo) &&
                     take(file, "debuginfod_find_source", library.findSource) &&
                     take(file, "debuginfod_set_progressfn", library.setProgress) &&
                     take(file, "debuginfod_set_user_data", library.setUserData) &&
                     take(file, "debuginfod_get_user_data", library.userData);
    return all ? library : Library();
  }
  template <typename Function>
  static bool take(void* file, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(file, name));
    return function != nullptr;
  }
};

Debuginfod::Debuginfod(GoOn goOn) : m_goOn(std::move(goOn)) {}

Debuginfod::~Debuginfod() {
  if (m_client != nullptr) m_library->end(m_client);
}

bool Debuginfod::wanted() {
  const char* urls = std::getenv(kUrls);
  return urls != nullptr && urls[std::strspn(urls, " ")] != '\0';
}

int Debuginfod::progress(void* client, long done, long total) {
  auto* self = static_cast<Debuginfod*>(Library::loaded()->userData(client));
  // Without a total, the first number counts the calls.
  const bool sized = total > 0 && done >= 0;
  if (self->m_goOn && !self->m_goOn(sized ? static_cast<std::uint64_t>(done) : 0,
                                    sized ? static_cast<std::uint64_t>(total) : 0))
    self->m_ended = true;
  return self->m_ended ? 1 : 0;
}

model::Result<std::string> Debuginfod::debugInformation(const std::string& buildId) {
  return find(What::DebugInformation, buildId, {});
}

model::Result<std::string> Debuginfod::source(const std::string& buildId, const std::string& path) {
  if (!path.starts_with('/')) return model::fail("debuginfod knows sources by absolute paths only", path);
  return find(What::Source, buildId, path);
}

model::Result<std::string> Debuginfod::find(What what, const std::string& buildId, const std::string& path) {
  if (!wanted()) return model::fail("DEBUGINFOD_URLS is not set");
  if (buildId.empty()) return model::fail("debuginfod knows files by build id, and there is none");
  if (!m_trouble.empty()) return model::fail(m_trouble);
  if (m_client == nullptr) {
    m_library = Library::loaded();
    if (m_library == nullptr)
      return model::fail("DEBUGINFOD_URLS is set, but libdebuginfod is not installed");
    m_client = m_library->begin();
    if (m_client == nullptr) return model::fail("debuginfod could not be started");
    m_library->setUserData(m_client, this);
    m_library->setProgress(m_client, &Debuginfod::progress);
  }
  char* found = nullptr;
  // A length of 0 says that the id is hexadecimal text.
  const auto* id = reinterpret_cast<const unsigned char*>(buildId.c_str());
  const int file = what == What::DebugInformation
                       ? m_library->findDebuginfo(m_client, id, 0, &found)
                       : m_library->findSource(m_client, id, 0, path.c_str(), &found);
  const std::unique_ptr<char, void (*)(void*)> owned(found, std::free);
  if (file >= 0) {
    close(file);
    if (found != nullptr) return std::string(found);
    return model::fail("debuginfod: it did not say where it put the file");
  }
  if (m_ended) {
    m_trouble = "debuginfod: cancelled";
    return model::fail(m_trouble);
  }
  std::string why =
      std::format("debuginfod: {}", file == -ENOENT ? "no server has it" : std::strerror(-file));
  // Any other answer than that is about the servers, and would be the same for the next file.
  if (file != -ENOENT) m_trouble = why;
  return model::fail(why);
}

}  // namespace traceback::loader
