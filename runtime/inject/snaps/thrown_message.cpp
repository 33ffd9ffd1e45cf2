#include "runtime/inject/snaps/thrown_message.h"

#include <dlfcn.h>

#include "runtime/inject/libc/libc.h"
#include "runtime/inject/process/own_memory.h"
#include "runtime/inject/rings/thread.h"
#include "runtime/inject/snaps/type_names.h"

namespace traceback::inject {

namespace {

// A what(), and how it finds its text: its address is at `text` in the object; or, if `then` is not 0, at
// that place of what a pointer there leads to.
struct What {
  const char* name;
  std::uint64_t text, then;
};
constexpr unsigned kCommonWhats = 2;  // to all C++ libraries; the others are GCC's
constexpr What kWhats[] = {{"_ZNKSt13runtime_error4whatEv", 8, 0},
                           {"_ZNKSt11logic_error4whatEv", 8, 0},
                           {"_ZNKSt12future_error4whatEv", 8, 0},
                           {"_ZNKSt8ios_base7failureB5cxx114whatEv", 8, 0},
                           {"_ZNKSt10filesystem7__cxx1116filesystem_error4whatEv", 32, 80}};
constexpr unsigned kAllWhats = sizeof kWhats / sizeof *kWhats;
constinit std::uint64_t whats[kAllWhats] = {};

// As the types themselves are named: those whose first word is the text's address.
constexpr const char* kTexts[] = {"PKc", "Pc", "Ss", "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"};

bool isText(const char* mangled) {
  for (const char* each : kTexts)
    if (strcmp(each, mangled) == 0) return true;
  return false;
}

bool readWord(std::uint64_t from, std::uint64_t& to) {
  return readOwnMemory(from, &to, sizeof to) == sizeof to;
}

// What stands around where the word for the virtual functions leads (Itanium C++ ABI, 2.5.2).
struct VirtualTable {
  std::int64_t offsetToTop;  // of the whole object
  std::uint64_t type;  // of that
  std::uint64_t functions[3];
};
constexpr unsigned kFunctions = 2 * sizeof(std::uint64_t), kWhat = 2;

// That of the part of an object at that offset; null if it is another one, or there is no such part.
const What* knownWhat(std::uint64_t virtualFunctions, const Thrown& whole, std::uint64_t offset) {
  VirtualTable table{};
  if (readOwnMemory(virtualFunctions - kFunctions, &table, sizeof table) != sizeof table) return nullptr;
  if (table.offsetToTop != -static_cast<std::int64_t>(offset) || table.type != whole.type) return nullptr;
  const std::uint64_t what = table.functions[kWhat];
  for (unsigned i = 0; i < kAllWhats; ++i)
    if (what != 0 && what == whats[i]) return &kWhats[i];
  return nullptr;
}

// Where its text is; 0: not known. Of several bases one that is known, as boost::wrapexcept has it behind
// another.
std::uint64_t textOf(const Thrown& thrown) {
  std::uint64_t text = 0;
  if (thrown.isText) return readWord(thrown.object, text) ? text : 0;
  constexpr std::uint64_t kFurthest = 128;
  for (std::uint64_t offset = 0; offset <= kFurthest; offset += sizeof text) {
    std::uint64_t virtualFunctions = 0;
    if (!readWord(thrown.object + offset, virtualFunctions)) return 0;
    const What* const what = knownWhat(virtualFunctions, thrown, offset);
    if (what == nullptr) continue;
    if (!readWord(thrown.object + offset + what->text, text)) return 0;
    return what->then == 0 || readWord(text + what->then, text) ? text : 0;
  }
  return 0;
}

}  // namespace

void findKnownWhats(bool isGccs) {
  for (unsigned i = 0; i < (isGccs ? kAllWhats : kCommonWhats); ++i)
    whats[i] = reinterpret_cast<std::uint64_t>(findOfAnyVersion(RTLD_NEXT, kWhats[i].name));
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
