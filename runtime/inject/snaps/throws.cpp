// C++ exceptions as they are thrown: a record for each, and snaps of those that the policy names.
#include <dlfcn.h>
#include <errno.h>

#include "runtime/format/record.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/libc/waiting.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/snaps/policy_file.h"
#include "runtime/inject/snaps/thrown_message.h"
#include "runtime/inject/snaps/throws.h"
#include "runtime/inject/snaps/trigger.h"
#include "runtime/inject/snaps/type_names.h"

using namespace traceback::inject;

extern "C" [[gnu::visibility("default"), noreturn]] void __cxa_throw(void* object, void* type,
                                                                     void (*destructor)(void*));
// There if the program is started with a C++ library.
extern "C" [[gnu::weak, gnu::visibility("default")]] void __cxa_rethrow();

namespace {

// Of whatever version: libstdc++'s has one, libc++abi's none.
constexpr char kName[] = "__cxa_throw";

using Throw = void (*)(void* object, void* type, void (*destructor)(void*));
constinit Throw nextThrow = nullptr;  // of the library that comes behind this one

void findNext() {
  void* const found = findOfAnyVersion(RTLD_NEXT, kName);
  __atomic_store_n(&nextThrow, reinterpret_cast<Throw>(found), __ATOMIC_RELEASE);
}

// The one that the thrower would have called without us: if not the next in the program's own order, then
// that of the C++ library which was opened together with it.
Throw throwOf(const void* thrower) {
  if (__atomic_load_n(&nextThrow, __ATOMIC_ACQUIRE) == nullptr) findNext();
  if (Throw known = __atomic_load_n(&nextThrow, __ATOMIC_ACQUIRE)) return known;
  findLibc();
  Dl_info info{};
  if (libc.dladdr == nullptr || libc.dladdr(thrower, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = findOfAnyVersion(handle, kName);
  libc.dlclose(handle);
  return found != reinterpret_cast<void*>(&__cxa_throw) ? reinterpret_cast<Throw>(found) : nullptr;
}

}  // namespace

namespace traceback::inject {

void findThrow() {
  if (&__cxa_rethrow == nullptr) return;
  findNext();
  findKnownWhats();
}

}  // namespace traceback::inject

namespace {

struct Question {
  ClassName name;
  const Policy* rules;
  const ExceptionRule* answer;
};

// The last rule that fits the class, or one that it is derived from.
void ask(Question& question, const void* type) {
  for (unsigned i = question.rules->exceptionRules; i-- > 0 && question.answer == nullptr;) {
    struct One {
      Question* question;
      const ExceptionRule* rule;
    } one{&question, &question.rules->exceptions[i]};
    const auto fits = [](const void* each, void* data) {
      auto& asked = *static_cast<One*>(data);
      nameOfType(each, asked.question->name);
      return namesClass(asked.rule->name, asked.question->name.c_str());
    };
    if (anyOfItsClasses(type, fits, &one)) question.answer = one.rule;
  }
}

bool isInLoadedFile(const void* address) {
  dl_find_object found;
  return libc.findObject != nullptr && libc.findObject(const_cast<void*>(address), &found) == 0;
}

// Mangled, if people's name for it leaves something out and there is room.
void nameForRecord(const void* type, ClassName& name) {
  if (nameOfType(type, name)) return;
  const char* const mangled = mangledNameOf(type);
  if (strlen(mangled) + 2 > traceback::format::kMostTypeNameBytes) return;
  name.clear();
  name.add("_Z");
  name.add(mangled);
}

[[gnu::noinline]] void meetThrow(const void* object, const void* type, std::uint64_t thrower) {
  if (!process.recording) return;
  findLibc();
  Question question{{}, &policy(), nullptr};
  // Whoever throws may have made the type up; as long as the policy does not ask, it is not read then.
  const bool isReal = type != nullptr && isInLoadedFile(type) && isInLoadedFile(nameInFileOf(type));
  if (isReal) nameForRecord(type, question.name);
  const std::uint64_t time = noteException(thrower - 1, type, question.name.c_str());
  if (isReal) rememberThrown(object, mangledNameOf(type), time);
  if (question.rules->exceptionRules == 0 || type == nullptr) return;
  const int error = errno;
  ask(question, type);
  if (question.answer != nullptr && question.answer->snap) {
    nameOfType(type, question.name);
    trigger(Trigger::Exception, thrower ^ reinterpret_cast<std::uint64_t>(type), question.name.c_str());
  }
  setErrno(error);
}

}  // namespace

extern "C" void __cxa_throw(void* object, void* type, void (*destructor)(void*)) {
  const void* const thrower = __builtin_return_address(0);
  const Throw next = throwOf(thrower);
  meetThrow(object, type, reinterpret_cast<std::uint64_t>(thrower));
  if (next == nullptr) __builtin_trap();  // it was thrown by a library that is not there
  next(object, type, destructor);
  __builtin_unreachable();
}
