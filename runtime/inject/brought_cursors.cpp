#include "runtime/inject/brought_cursors.h"

#include <sys/mman.h>

#include "runtime/inject/module_tables.h"
#include "runtime/inject/system.h"

namespace traceback::inject {

namespace {

constexpr std::uint64_t kPage = 4096;

// One store: who comes there meets the one instruction or the other, both of five bytes.
void writeJump(std::uint64_t from, std::uint64_t to) {
  constexpr std::uint64_t kJump = 0xE9, kJumpSize = 5, kBytes = (std::uint64_t{1} << (8 * kJumpSize)) - 1;
  auto* const place = reinterpret_cast<std::uint64_t*>(from);
  const auto distance = static_cast<std::uint32_t>(to - (from + kJumpSize));
  const std::uint64_t jump = kJump | std::uint64_t{distance} << 8;
  __atomic_store_n(place, (__atomic_load_n(place, __ATOMIC_RELAXED) & ~kBytes) | jump, __ATOMIC_SEQ_CST);
}

}  // namespace

void loadBroughtCursors(const format::ModuleHeader& header, std::uint64_t bias) {
  const std::span<const format::RecordRoutine> routines = recordRoutinesOf(header);
  for (std::size_t i = 0; i + 1 < routines.size(); ++i) {
    if ((routines[i].keeps & format::kRoutineBroughtCursor) == 0) continue;
    const std::uint64_t start = bias + routines[i].start, page = start / kPage * kPage;
    if (failed(systemCall(__NR_mprotect, static_cast<long>(page), static_cast<long>(kPage),
                          PROT_READ | PROT_WRITE | PROT_EXEC)))
      return;
    writeJump(start, bias + routines[i + 1].start);
    systemCall(__NR_mprotect, static_cast<long>(page), static_cast<long>(kPage), PROT_READ | PROT_EXEC);
  }
}

}  // namespace traceback::inject
