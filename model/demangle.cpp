#include "model/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <optional>

namespace traceback::model {

namespace {

// The demangler's stack grows with the length of the name: about a megabyte for this.
constexpr std::size_t kLongestName = 16 * 1024;

struct Free {
  void operator()(char* text) const { std::free(text); }
};

std::optional<std::string> demangled(std::string_view mangled) {
  if (mangled.size() > kLongestName) return {};
  int status = 0;
  const std::unique_ptr<char, Free> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status));
  return status == 0 && text ? std::optional<std::string>(text.get()) : std::nullopt;
}

constexpr std::string_view kMangled = "_Z";

}  // namespace

std::string demangle(std::string_view name) {
  const std::string_view mangled = name.substr(0, name.find('@'));
  if (!mangled.starts_with(kMangled)) return std::string(name);
  const auto text = demangled(mangled);
  return text ? *text + std::string(name.substr(mangled.size())) : std::string(name);
}

std::string demangleType(std::string_view name) {
  if (!name.starts_with(kMangled)) return std::string(name);
  return demangled(name.substr(kMangled.size())).value_or(std::string(name));
}

}  // namespace traceback::model
