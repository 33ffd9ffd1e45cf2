#include "loader/symbols/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace traceback::loader {

namespace {

// Of <elfutils/debuginfod.h>; loaded when wanted, so that nothing depends on the library and what it pulls
// in.
using Begin = void* (*)();
using End = void (*)(void*);
using FindDebuginfo = int (*)(void*, const unsigned char*, int, char**);

template <typename Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

std::string debuginfodFile(const std::string& buildId, std::string& note) {
  const char* urls = std::getenv("DEBUGINFOD_URLS");
  if (!urls || std::strspn(urls, " ") == std::strlen(urls)) return {};
  // Never unloaded: it starts what must not lose its code.
  void* library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const auto begin = library ? symbol<Begin>(library, "debuginfod_begin") : nullptr;
  const auto end = library ? symbol<End>(library, "debuginfod_end") : nullptr;
  const auto find = library ? symbol<FindDebuginfo>(library, "debuginfod_find_debuginfo") : nullptr;
  if (!begin || !end || !find) {
    note = "DEBUGINFOD_URLS is set, but libdebuginfod is not installed";
    return {};
  }
  const std::unique_ptr<void, End> client(begin(), end);
  if (!client) {
    note = "debuginfod could not be started";
    return {};
  }
  char* path = nullptr;
  // A length of 0 says that the id is hexadecimal text.
  const int file = find(client.get(), reinterpret_cast<const unsigned char*>(buildId.c_str()), 0, &path);
  const std::unique_ptr<char, void (*)(void*)> owned(path, std::free);
  if (file < 0) {
    note = std::string("debuginfod: ") + std::strerror(-file);
    return {};
  }
  close(file);
  return path ? path : "";
}

}  // namespace traceback::loader
