#include "model/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace traceback::model {

namespace {

// The demangler's stack grows with the length of the name: about a megabyte for this.
constexpr std::size_t kLongestName = 16 * 1024;

struct Free {
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

std::string demangle(std::string_view name) {
  const std::string_view mangled = name.substr(0, name.find('@'));
  if (!mangled.starts_with("_Z") || mangled.size() > kLongestName) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, Free> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status));
  if (status != 0 || !text) return std::string(name);
  return std::string(text.get()).append(name.substr(mangled.size()));
}

}  // namespace traceback::model
