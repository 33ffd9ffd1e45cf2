// C++ exceptions as they are thrown: a record for each, and snaps of those that the policy names.
#include <dlfcn.h>
#include <errno.h>

#include "runtime/format/record.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/libc/waiting.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/snaps/known_throws.h"
#include "runtime/inject/snaps/policy_file.h"
#include "runtime/inject/snaps/text_places.h"
#include "runtime/inject/snaps/thrown_message.h"
#include "runtime/inject/snaps/throws.h"
#include "runtime/inject/snaps/trigger.h"
#include "runtime/inject/snaps/type_names.h"

using namespace traceback::inject;

extern "C" {
[[gnu::visibility("default"), noreturn]] void __cxa_throw(void* object, void* type,
                                                          void (*destructor)(void*));
// std::rethrow_exception() of GCC's library and of LLVM's: what it throws is handed in by its address
// (Itanium C++ ABI, 3.1.2.3), and is itself the address of the object that was thrown.
[[gnu::visibility("default"), noreturn]] void _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(
    void* const* kept);
[[gnu::visibility("default"), noreturn]] void _ZSt17rethrow_exceptionSt13exception_ptr(void* const* kept);
}
// There if the program is started with a C++ library, with GCC's, with LLVM's.
extern "C" [[gnu::weak, gnu::visibility("default")]] void __cxa_rethrow();
extern "C" [[gnu::weak, gnu::visibility("default")]] void
_ZNKSt15__exception_ptr13exception_ptr20__cxa_exception_typeEv();
extern "C" [[gnu::weak, gnu::visibility("default")]] void __cxa_rethrow_primary_exception(void* object);

namespace {

// The C++ library's function that comes behind one of ours.
template <typename Function>
class Next {
 public:
  // Of whatever version: libstdc++'s have one, libc++'s none.
  constexpr Next(const char* name, Function* own) : m_name(name), m_own(own) {}

  void find() {
    void* const found = findOfAnyVersion(RTLD_NEXT, m_name);
    __atomic_store_n(&m_next, reinterpret_cast<Function*>(found), __ATOMIC_RELEASE);
  }

  // The one that the thrower would have called without us: if not the next in the program's own order, then
  // that of the C++ library which was opened together with it.
  Function* of(const void* thrower) {
    if (__atomic_load_n(&m_next, __ATOMIC_ACQUIRE) == nullptr) find();
    if (Function* known = __atomic_load_n(&m_next, __ATOMIC_ACQUIRE)) return known;
    findLibc();
    Dl_info info{};
    if (libc.dladdr == nullptr || libc.dladdr(thrower, &info) == 0 || info.dli_fname == nullptr)
      return nullptr;
    void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return nullptr;
    void* const found = findOfAnyVersion(handle, m_name);
    libc.dlclose(handle);
    return found != reinterpret_cast<void*>(m_own) ? reinterpret_cast<Function*>(found) : nullptr;
  }

 private:
  const char* m_name;
  Function* m_own;
  Function* m_next = nullptr;
};

using Throw = void(void* object, void* type, void (*destructor)(void*));
using ThrowAgain = void(void* const* kept);

constinit Next<Throw> nextThrow("__cxa_throw", &__cxa_throw);
constinit Next<ThrowAgain> nextThrowAgain("_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
                                          &_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE);
constinit Next<ThrowAgain> nextThrowAgainOfLlvm("_ZSt17rethrow_exceptionSt13exception_ptr",
                                                &_ZSt17rethrow_exceptionSt13exception_ptr);

}  // namespace

namespace traceback::inject {

void findThrow() {
  if (&__cxa_rethrow == nullptr) return;
  nextThrow.find();
  const bool isGccs = &_ZNKSt15__exception_ptr13exception_ptr20__cxa_exception_typeEv != nullptr;
  if (isGccs) nextThrowAgain.find();
  if (&__cxa_rethrow_primary_exception != nullptr) nextThrowAgainOfLlvm.find();
  findKnownWhats(isGccs);
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

// Whoever throws may have made the type up; as long as the policy does not ask, it is not read then.
bool isReal(const void* type) {
  return type != nullptr && isInLoadedFile(type) && isInLoadedFile(nameInFileOf(type));
}

// The time in the record.
std::uint64_t record(traceback::format::ExceptionDetail detail, std::uint64_t about, const void* object,
                     const void* type, std::uint64_t thrower) {
  ClassName name;
  const bool real = isReal(type);
  if (real) nameForRecord(type, name);
  const std::uint64_t time = noteException(detail, thrower - 1, about, name.c_str());
  if (real) rememberThrown(object, type, time);
  return time;
}

[[gnu::noinline]] void meetThrow(const void* object, const void* type, std::uint64_t thrower) {
  if (!process.recording) return;
  findLibc();
  const auto typeInfo = reinterpret_cast<std::uint64_t>(type);
  rememberTimeOfThrow(object, type,
                      record(traceback::format::ExceptionDetail::Thrown, typeInfo, object, type, thrower));
  Question question{{}, &policy(), nullptr};
  if (question.rules->exceptionRules == 0 || type == nullptr) return;
  const int error = errno;
  ask(question, type);
  if (question.answer != nullptr && question.answer->snap) {
    nameOfType(type, question.name);
    trigger(Trigger::Exception, thrower ^ typeInfo, question.name.c_str());
  }
  setErrno(error);
}

// The policy was asked when it was thrown first.
[[gnu::noinline]] void meetThrowAgain(const void* object, std::uint64_t thrower) {
  if (!process.recording || object == nullptr) return;
  findLibc();
  record(traceback::format::ExceptionDetail::Again, timeOfThrow(object), object, typeOfException(object),
         thrower);
}

[[noreturn]] inline void throwAgain(Next<ThrowAgain>& next, void* const* kept, const void* thrower) {
  ThrowAgain* const known = next.of(thrower);
  meetThrowAgain(*kept, reinterpret_cast<std::uint64_t>(thrower));
  if (known == nullptr) __builtin_trap();
  known(kept);
  __builtin_unreachable();
}

}  // namespace

extern "C" void __cxa_throw(void* object, void* type, void (*destructor)(void*)) {
  const void* const thrower = __builtin_return_address(0);
  Throw* const next = nextThrow.of(thrower);
  meetThrow(object, type, reinterpret_cast<std::uint64_t>(thrower));
  if (next == nullptr) __builtin_trap();  // it was thrown by a library that is not there
  next(object, type, destructor);
  __builtin_unreachable();
}

extern "C" void _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE(void* const* kept) {
  throwAgain(nextThrowAgain, kept, __builtin_return_address(0));
}

extern "C" void _ZSt17rethrow_exceptionSt13exception_ptr(void* const* kept) {
  throwAgain(nextThrowAgainOfLlvm, kept, __builtin_return_address(0));
}
