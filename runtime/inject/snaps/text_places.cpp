#include "runtime/inject/snaps/text_places.h"

#include <dlfcn.h>

#include "runtime/format/fnv.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/modules/bound_modules.h"
#include "runtime/inject/process/own_memory.h"
#include "runtime/inject/snaps/type_names.h"

namespace traceback::inject {

namespace {

struct What {
  const char* name;
  TextPlace place;
};
constexpr TextPlace kBehindTable = {.offsets = {8}, .loads = 1, .isKept = true};
constexpr TextPlace kOfFiles = {.offsets = {32, 80}, .loads = 2, .isKept = true};
constexpr unsigned kCommonWhats = 2;  // to all C++ libraries; the others are GCC's
constexpr What kWhats[] = {{"_ZNKSt13runtime_error4whatEv", kBehindTable},
                           {"_ZNKSt11logic_error4whatEv", kBehindTable},
                           {"_ZNKSt12future_error4whatEv", kBehindTable},
                           {"_ZNKSt8ios_base7failureB5cxx114whatEv", kBehindTable},
                           {"_ZNKSt10filesystem7__cxx1116filesystem_error4whatEv", kOfFiles}};
constexpr unsigned kAllWhats = sizeof kWhats / sizeof *kWhats;
constinit std::uint64_t whats[kAllWhats] = {};

// As the types themselves are named: those whose first word is the text's address.
struct TextType {
  const char* name;
  bool isKept;
};
constexpr TextType kTextTypes[] = {{"PKc", false},
                                   {"Pc", false},
                                   {"Ss", true},
                                   {"NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", true}};

// What stands around where the word for the virtual functions leads (Itanium C++ ABI, 2.5.2).
struct VirtualTable {
  std::int64_t offsetToTop;  // of the whole object
  std::uint64_t type;  // of that
  std::uint64_t functions[3];
};
constexpr unsigned kFunctions = 2 * sizeof(std::uint64_t), kWhat = 2;

// The third virtual function of the part of an object at that offset; 0 if that is another one, or there is
// no such part.
std::uint64_t thirdVirtual(std::uint64_t object, std::uint64_t type, std::uint64_t offset) {
  std::uint64_t functions = 0;
  VirtualTable table{};
  if (readOwnMemory(object + offset, &functions, sizeof functions) != sizeof functions ||
      readOwnMemory(functions - kFunctions, &table, sizeof table) != sizeof table)
    return 0;
  return table.offsetToTop == -static_cast<std::int64_t>(offset) && table.type == type
             ? table.functions[kWhat]
             : 0;
}

TextPlace movedBy(TextPlace place, std::uint64_t offset) {
  place.offsets[0] = static_cast<std::int16_t>(place.offsets[0] + static_cast<std::int64_t>(offset));
  return place;
}

const format::TextGetter* getterIn(const format::ModuleHeader& header, std::uint64_t function) {
  if (header.headerSize < sizeof header || function > UINT32_MAX) return nullptr;
  const auto* getters = reinterpret_cast<const format::TextGetter*>(reinterpret_cast<const char*>(&header) +
                                                                    header.textGetterOffset);
  unsigned first = 0, end = header.textGetterCount;
  while (first < end) {
    const unsigned middle = first + (end - first) / 2;
    if (getters[middle].function < function)
      first = middle + 1;
    else
      end = middle;
  }
  return first < header.textGetterCount && getters[first].function == function ? &getters[first] : nullptr;
}

TextPlace placeByGetter(std::uint64_t function) {
  for (const BoundModule& module : boundModules()) {
    const format::ModuleHeader* const header = headerOf(module);
    if (header == nullptr || function < module.bias) continue;
    const format::TextGetter* const getter = getterIn(*header, function - module.bias);
    if (getter == nullptr) continue;
    TextPlace place{.loads = getter->loads, .isKept = getter->constant != 0};
    for (unsigned i = 0; i <= format::TextGetter::kMostLoads; ++i) place.offsets[i] = getter->offsets[i];
    if (getter->constant != 0) place.constant = module.bias + getter->constant;
    return place;
  }
  return {};
}

// Of several bases one that is known, as boost::wrapexcept has it behind another.
TextPlace findText(std::uint64_t object, std::uint64_t type, const char* name) {
  for (const TextType& each : kTextTypes)
    if (strcmp(each.name, name) == 0) return {.loads = 1, .isKept = each.isKept};
  constexpr std::uint64_t kFurthest = 128;
  for (std::uint64_t offset = 0; offset <= kFurthest; offset += sizeof object) {
    const std::uint64_t what = thirdVirtual(object, type, offset);
    for (unsigned i = 0; what != 0 && i < kAllWhats; ++i)
      if (what == whats[i]) return movedBy(kWhats[i].place, offset);
  }
  // Of other classes the third virtual function may be anything.
  const std::int64_t exception = offsetOfClass(reinterpret_cast<const void*>(type), "St9exception");
  if (exception < 0 || exception > INT16_MAX / 2) return {};
  const auto offset = static_cast<std::uint64_t>(exception);
  const std::uint64_t what = thirdVirtual(object, type, offset);
  return what != 0 ? movedBy(placeByGetter(what), offset) : TextPlace{};
}

struct KnownPlace {
  std::uint64_t constant;
  std::uint64_t others;
};
static_assert(sizeof(KnownPlace) == sizeof(TextPlace));

// Any thread writes it without a lock: what two have written parts of does not fit.
struct KnownType {
  std::uint64_t key;
  KnownPlace place;
};
constexpr unsigned kKnownBits = 8;
constinit KnownType knownTypes[1U << kKnownBits] = {};

std::uint64_t keyFor(std::uint64_t identity, const KnownPlace& place) {
  return identity ^ place.constant ^ place.others;
}

}  // namespace

void findKnownWhats(bool isGccs) {
  for (unsigned i = 0; i < (isGccs ? kAllWhats : kCommonWhats); ++i)
    whats[i] = reinterpret_cast<std::uint64_t>(findOfAnyVersion(RTLD_NEXT, kWhats[i].name));
}

TextPlace textPlaceOf(std::uint64_t object, std::uint64_t type) {
  const char* const name = mangledNameOf(reinterpret_cast<const void*>(type));
  const std::uint64_t identity =
      format::fnvOf(name, format::kFnvStart ^ type);  // another library may come to lie there
  KnownType& known = knownTypes[identity >> (64 - kKnownBits)];
  const KnownType seen = known;
  if (seen.key == keyFor(identity, seen.place)) return __builtin_bit_cast(TextPlace, seen.place);
  if (process.sandboxed) return {};
  const TextPlace found = findText(object, type, name);
  const auto place = __builtin_bit_cast(KnownPlace, found);
  known = {.key = keyFor(identity, place), .place = place};
  return found;
}

}  // namespace traceback::inject
