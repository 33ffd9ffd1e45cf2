#include "runtime/inject/snaps/thrown_message.h"

#include <dlfcn.h>

#include "runtime/inject/libc/libc.h"
#include "runtime/inject/process/own_memory.h"
#include "runtime/inject/rings/thread.h"
#include "runtime/inject/snaps/type_names.h"

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

struct Subobject {
  std::uint64_t virtualFunctions;
  std::uint64_t text;
};

// What stands around where the word for the virtual functions leads (Itanium C++ ABI, 2.5.2).
struct VirtualTable {
  std::int64_t offsetToTop;  // of the whole object
  std::uint64_t type;  // of that
  std::uint64_t functions[3];
};
constexpr unsigned kFunctions = 2 * sizeof(std::uint64_t), kWhat = 2;

bool hasKnownWhat(const Subobject& part, const Thrown& whole, std::uint64_t offset) {
  VirtualTable table{};
  if (readOwnMemory(part.virtualFunctions - kFunctions, &table, sizeof table) != sizeof table) return false;
  const std::uint64_t what = table.functions[kWhat];
  return table.offsetToTop == -static_cast<std::int64_t>(offset) && table.type == whole.type && what != 0 &&
         (what == whats[0] || what == whats[1]);
}

// Where its text is; 0: not known. Of several bases one that is known, as boost::wrapexcept has it behind
// another.
std::uint64_t textOf(const Thrown& thrown) {
  std::uint64_t first = 0;
  if (thrown.isText) return readOwnMemory(thrown.object, &first, sizeof first) == sizeof first ? first : 0;
  constexpr std::uint64_t kFurthest = 128;
  for (std::uint64_t offset = 0; offset <= kFurthest; offset += sizeof first) {
    Subobject part{};
    if (readOwnMemory(thrown.object + offset, &part, sizeof part) != sizeof part) return 0;
    if (hasKnownWhat(part, thrown, offset)) return part.text;
  }
  return 0;
}

}  // namespace

void findKnownWhats() {
  for (unsigned i = 0; i < 2; ++i)
    whats[i] = reinterpret_cast<std::uint64_t>(findOfAnyVersion(RTLD_NEXT, kWhats[i]));
}

void rememberThrown(const void* object, const void* type, std::uint64_t time) {
  thread().thrown = {reinterpret_cast<std::uint64_t>(object), reinterpret_cast<std::uint64_t>(type), time,
                     isText(mangledNameOf(type))};
}

void copyThrownMessage(format::ProcessHeader& file) {
  const Thrown& thrown = thread().thrown;
  if (thrown.time == 0 || process.sandboxed ||
      file.keptMemory == static_cast<std::uint32_t>(format::KeptMemory::None))
    return;
  const std::uint64_t from = textOf(thrown);
  auto& to = file.thrownMessage;
  std::uint8_t text[sizeof to] = {};
  if (from == 0 || readOwnMemory(from, text, sizeof text - 1) <= 0) return;
  for (unsigned i = 0; i < sizeof to; ++i) to[i] = text[i];
  file.thrownTime = thrown.time;
}

}  // namespace traceback::inject
