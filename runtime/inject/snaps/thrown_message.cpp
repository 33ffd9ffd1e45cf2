#include "runtime/inject/snaps/thrown_message.h"

#include <dlfcn.h>

#include "runtime/inject/libc/libc.h"
#include "runtime/inject/process/own_memory.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::inject {

namespace {

constexpr const char* kWhats[] = {"_ZNKSt13runtime_error4whatEv", "_ZNKSt11logic_error4whatEv"};
constinit std::uint64_t whats[2] = {};

// As the types themselves are named: those whose first word is the text's address.
constexpr const char* kTexts[] = {"PKc", "Pc", "Ss", "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"};

bool isText(const char* mangled) {
  for (const char* each : kTexts)
    if (strcmp(each, mangled) == 0) return true;
  return false;
}

bool isKnownWhat(std::uint64_t virtualFunctions) {
  constexpr std::uint64_t kWhat = 2;
  std::uint64_t what = 0;
  const std::uint64_t at = virtualFunctions + kWhat * sizeof what;
  if (readOwnMemory(at, &what, sizeof what) != sizeof what || what == 0) return false;
  return what == whats[0] || what == whats[1];
}

}  // namespace

void findKnownWhats() {
  for (unsigned i = 0; i < 2; ++i)
    whats[i] = reinterpret_cast<std::uint64_t>(findOfAnyVersion(RTLD_NEXT, kWhats[i]));
}

void rememberThrown(const void* object, const char* mangled, std::uint64_t time) {
  thread().thrown = {reinterpret_cast<std::uint64_t>(object), time, isText(mangled)};
}

void copyThrownMessage(format::ProcessHeader& file) {
  const Thrown& thrown = thread().thrown;
  if (thrown.time == 0 || process.sandboxed ||
      file.keptMemory == static_cast<std::uint32_t>(format::KeptMemory::None))
    return;
  std::uint64_t words[2] = {};
  const long size = readOwnMemory(thrown.object, words, thrown.isText ? sizeof *words : sizeof words);
  if (size < static_cast<long>(sizeof *words) || (!thrown.isText && !isKnownWhat(words[0]))) return;
  auto& to = file.thrownMessage;
  std::uint8_t text[sizeof to] = {};
  if (readOwnMemory(thrown.isText ? words[0] : words[1], text, sizeof text - 1) <= 0) return;
  for (unsigned i = 0; i < sizeof to; ++i) to[i] = text[i];
  file.thrownTime = thrown.time;
}

}  // namespace traceback::inject
