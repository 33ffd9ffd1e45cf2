#include "runtime/inject/snaps/type_names.h"

namespace traceback::inject {

namespace {

struct TypeInfo {
  const void* const* table;  // of virtual functions; before it is the type of the object itself
  const char* name;
};
struct SingleBase : TypeInfo {  // __si_class_type_info
  const TypeInfo* base;
};
struct ManyBases : TypeInfo {  // __vmi_class_type_info
  struct Base {
    const TypeInfo* type;
    long offsetAndFlags;
  };
  std::uint32_t flags, count;
  Base bases[1];  // `count` of them
};

constexpr const char* kSingleBase = "N10__cxxabiv120__si_class_type_infoE";
constexpr const char* kManyBases = "N10__cxxabiv121__vmi_class_type_infoE";
constexpr unsigned kDeepest = 32, kMostBases = 256;

const char* mangledName(const TypeInfo& type) { return *type.name == '*' ? type.name + 1 : type.name; }

// By name, for each copy of a C++ library has such types of its own.
bool isOfKind(const TypeInfo& type, const char* kind) {
  const auto* own = static_cast<const TypeInfo*>(type.table[-1]);
  return own != nullptr && strcmp(mangledName(*own), kind) == 0;
}

bool visitAll(const TypeInfo& type, bool (*visit)(const void*, void*), void* data, unsigned depth) {
  if (visit(&type, data)) return true;
  if (depth == kDeepest || type.table == nullptr) return false;
  if (isOfKind(type, kSingleBase)) {
    const auto& single = static_cast<const SingleBase&>(type);
    return single.base != nullptr && visitAll(*single.base, visit, data, depth + 1);
  }
  if (!isOfKind(type, kManyBases)) return false;
  const auto& many = static_cast<const ManyBases&>(type);
  const std::uint32_t count = many.count < kMostBases ? many.count : kMostBases;
  for (std::uint32_t i = 0; i < count; ++i)
    if (many.bases[i].type != nullptr && visitAll(*many.bases[i].type, visit, data, depth + 1)) return true;
  return false;
}

std::int64_t offsetOf(const TypeInfo& type, const char* mangled, unsigned depth) {
  constexpr long kVirtual = 1, kOffsetShift = 8;
  if (strcmp(mangledName(type), mangled) == 0) return 0;
  if (depth == kDeepest || type.table == nullptr) return -1;
  if (isOfKind(type, kSingleBase)) {
    const auto& single = static_cast<const SingleBase&>(type);
    return single.base != nullptr ? offsetOf(*single.base, mangled, depth + 1) : -1;
  }
  if (!isOfKind(type, kManyBases)) return -1;
  const auto& many = static_cast<const ManyBases&>(type);
  const std::uint32_t count = many.count < kMostBases ? many.count : kMostBases;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ManyBases::Base& base = many.bases[i];
    if (base.type == nullptr || (base.offsetAndFlags & kVirtual) != 0) continue;
    if (const std::int64_t within = offsetOf(*base.type, mangled, depth + 1); within >= 0)
      return (base.offsetAndFlags >> kOffsetShift) + within;
  }
  return -1;
}

bool isInline(const char* part, std::size_t size) {
  return (size == 7 && strncmp(part, "__cxx11", 7) == 0) || (size == 3 && strncmp(part, "__1", 3) == 0) ||
         (size == 12 && strncmp(part, "_GLOBAL__N_1", 12) == 0);
}

void addPart(ClassName& name, const char* part, std::size_t size) {
  if (isInline(part, size)) return;
  if (!name.empty()) name.add("::");
  for (std::size_t i = 0; i < size; ++i) {
    const char one[2] = {part[i], 0};
    name.add(one);
  }
}

constexpr struct {
  const char* mangled;
  const char* name;
} kPlain[] = {{"i", "int"},
              {"j", "unsigned"},
              {"l", "long"},
              {"m", "unsigned long"},
              {"b", "bool"},
              {"c", "char"},
              {"d", "double"},
              {"f", "float"},
              {"PKc", "const char*"},
              {"Pc", "char*"},
              {"Ss", "std::string"},
              {"Dn", "std::nullptr_t"},
              {"NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "std::string"}};

}  // namespace

const char* nameInFileOf(const void* type) { return static_cast<const TypeInfo*>(type)->name; }
const char* mangledNameOf(const void* type) { return mangledName(*static_cast<const TypeInfo*>(type)); }

bool nameOfType(const void* type, ClassName& name) {
  const char* at = mangledNameOf(type);
  const char* const whole = at;
  name.clear();
  for (const auto& plain : kPlain) {
    if (strcmp(plain.mangled, at) != 0) continue;
    name.add(plain.name);
    return true;
  }
  const bool isNested = *at == 'N';
  if (isNested) ++at;
  for (;;) {
    if (at[0] == 'S' && at[1] == 't') {
      addPart(name, "std", 3);
      at += 2;
      continue;
    }
    if (*at < '1' || *at > '9') break;
    std::size_t size = 0;
    while (*at >= '0' && *at <= '9' && size < 4096) size = size * 10 + static_cast<std::size_t>(*at++ - '0');
    std::size_t there = 0;
    while (there < size && at[there] != 0) ++there;
    if (there != size) break;
    addPart(name, at, size);
    at += size;
  }
  const char* const end = isNested ? "E" : "";
  const bool isAll = !name.empty() && strcmp(at, end) == 0;
  if (name.empty()) name.add(whole);
  return isAll;
}

bool anyOfItsClasses(const void* type, bool (*visit)(const void* type, void* data), void* data) {
  return visitAll(*static_cast<const TypeInfo*>(type), visit, data, 0);
}

std::int64_t offsetOfClass(const void* type, const char* mangled) {
  return offsetOf(*static_cast<const TypeInfo*>(type), mangled, 0);
}

}  // namespace traceback::inject
