#include "runtime/inject/snaps/known_throws.h"

namespace traceback::inject {

namespace {

// Behind which the object stands (Itanium C++ ABI, exception handling, 2.2.1): the last 32 bytes are the
// unwinder's (1.2). Of GCC's library and of LLVM's.
struct ExceptionHeader {
  const void* type;
  std::uint64_t libraries[9];
  std::uint64_t exceptionClass;
  std::uint64_t cleanup;
  std::uint64_t unwinders1;
  std::uint64_t unwinders2;  // where it is caught, once it was thrown; until then 0
};
static_assert(sizeof(ExceptionHeader) == 112);

const ExceptionHeader& headerOf(const void* object) {
  return static_cast<const ExceptionHeader*>(object)[-1];
}

// Any thread writes it without a lock: what two have written halves of fits neither.
struct KnownThrow {
  std::uint64_t key;
  std::uint64_t time;
};

constexpr unsigned kKnownBits = 12;
constinit KnownThrow knownThrows[1U << kKnownBits] = {};

std::uint64_t identityOf(const void* object, const void* type) {
  const auto word = reinterpret_cast<std::uint64_t>(type);
  return reinterpret_cast<std::uint64_t>(object) ^ (word << 32 | word >> 32);
}

// By all bits of the address: what threads allocate lies at the same places of arenas of their own.
KnownThrow& slotOf(const void* object) {
  constexpr std::uint64_t kSpreads = 0x9E37'79B9'7F4A'7C15;
  return knownThrows[(reinterpret_cast<std::uint64_t>(object) * kSpreads) >> (64 - kKnownBits)];
}

}  // namespace

void rememberTimeOfThrow(const void* object, const void* type, std::uint64_t time) {
  KnownThrow& to = slotOf(object);
  __atomic_store_n(&to.key, identityOf(object, type) ^ time, __ATOMIC_RELAXED);
  __atomic_store_n(&to.time, time, __ATOMIC_RELAXED);
}

const void* typeOfException(const void* object) { return headerOf(object).type; }

std::uint64_t timeOfThrow(const void* object) {
  const ExceptionHeader& header = headerOf(object);
  if (header.unwinders2 == 0) return 0;
  const KnownThrow& known = slotOf(object);
  const std::uint64_t key = __atomic_load_n(&known.key, __ATOMIC_RELAXED);
  const std::uint64_t time = __atomic_load_n(&known.time, __ATOMIC_RELAXED);
  return (key ^ time) == identityOf(object, header.type) ? time : 0;
}

}  // namespace traceback::inject
