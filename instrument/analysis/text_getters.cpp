#include "instrument/analysis/text_getters.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <span>

#include "instrument/analysis/getter.h"
#include "instrument/rounding.h"

namespace traceback::instrument {
namespace {

constexpr std::uint64_t kWord = 8;

// A word of the file's data that is the address of something.
struct Pointer {
  std::uint64_t place;
  std::uint64_t target;  // 0: of another file
};

// As it is in the file.
std::uint64_t wordAt(const loader::ElfImage& image, std::uint64_t place) {
  const auto bytes = image.bytesAt({place}, kWord);
  return bytes ? *loader::readAt<std::uint64_t>(*bytes, 0) : 0;
}

// Of a file that is loaded where it was linked: what looks like one.
void addPlainPointers(const loader::ElfImage& image, std::vector<Pointer>& pointers) {
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) != 0) continue;
    for (std::uint64_t at = roundedUp(segment.p_vaddr, kWord);
         at + kWord <= segment.p_vaddr + segment.p_filesz; at += kWord)
      if (const auto word = wordAt(image, at); word != 0 && image.segmentAt({word}) != nullptr)
        pointers.push_back({at, word});
  }
}

// By place.
std::vector<Pointer> pointersIn(const loader::ElfImage& image) {
  std::vector<Pointer> pointers;
  const auto relocations = image.relocations();
  const auto symbols = image.dynamicSymbols();
  if (!relocations || !symbols) return pointers;
  for (const loader::ElfRelocation& relocation : *relocations) {
    if (relocation.type == R_X86_64_RELATIVE) {
      pointers.push_back({relocation.address.value, std::uint64_t(relocation.addend)});
    } else if (relocation.type == R_X86_64_64 && relocation.symbol < symbols->size()) {
      const loader::ElfSymbol& symbol = (*symbols)[relocation.symbol];
      const std::uint64_t own = symbol.address.value + std::uint64_t(relocation.addend);
      pointers.push_back({relocation.address.value, symbol.defined() ? own : 0});
    }
  }
  if (image.type() == ET_EXEC) addPlainPointers(image, pointers);
  std::ranges::stable_sort(pointers, {}, &Pointer::place);
  const auto same = std::ranges::unique(pointers, {}, &Pointer::place);
  pointers.erase(same.begin(), same.end());
  return pointers;
}

// Whether it looks as a virtual table does around the last of these, its third function: in front of that are
// two destructors, the type, and the distance to the top of the object, which is no address.
bool areToThirdVirtual(const Program& program, std::span<const Pointer> pointers) {
  constexpr std::size_t kType = 0, kThird = 3;
  constexpr std::int64_t kLargest = 1 << 20;
  const std::uint64_t start = pointers[kType].place;
  const auto isCode = [&](const Pointer& pointer) { return program.isCode({pointer.target}); };
  for (std::size_t i = kType + 1; i <= kThird; ++i)
    if (pointers[i].place != start + i * kWord || (pointers[i].target != 0 && !isCode(pointers[i])))
      return false;
  const auto distance = std::int64_t(wordAt(*program.image, start - kWord));
  return isCode(pointers[kThird]) && !isCode(pointers[kType]) && distance <= 0 && distance > -kLargest;
}

std::optional<format::TextGetter> describe(VirtAddr function, const Handed& handed) {
  static_assert(Handed::kMostLoads == format::TextGetter::kMostLoads);
  using Offset = std::int16_t;
  format::TextGetter getter{};
  getter.function = std::uint32_t(function.value);
  getter.loads = std::uint8_t(handed.loads);
  if (handed.constant) {
    if (handed.constant->value > UINT32_MAX) return std::nullopt;
    getter.constant = std::uint32_t(handed.constant->value);
    return getter;
  }
  for (unsigned i = 0; i <= handed.loads; ++i) {
    if (handed.offsets[i] < std::numeric_limits<Offset>::min() ||
        handed.offsets[i] > std::numeric_limits<Offset>::max())
      return std::nullopt;
    getter.offsets[i] = Offset(handed.offsets[i]);
  }
  return getter;
}

}  // namespace

std::vector<format::TextGetter> findTextGetters(const Program& program) {
  constexpr std::size_t kOfTable = 4;
  const std::vector<Pointer> pointers = pointersIn(*program.image);
  std::set<std::uint64_t> functions;
  for (std::size_t i = 0; i + kOfTable <= pointers.size(); ++i) {
    const bool isFirst = i == 0 || pointers[i - 1].place + kWord != pointers[i].place;
    const std::span of = std::span(pointers).subspan(i, kOfTable);
    if (isFirst && areToThirdVirtual(program, of) && of.back().target <= UINT32_MAX)
      functions.insert(of.back().target);
  }
  std::vector<format::TextGetter> found;
  if (functions.empty()) return found;
  const Getters getters(program);
  for (const std::uint64_t function : functions)
    if (const auto handed = getters.handedOutBy({function}))
      if (const auto getter = describe({function}, *handed)) found.push_back(*getter);
  return found;
}

}  // namespace traceback::instrument
