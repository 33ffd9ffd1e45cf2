#include "runtime/inject/snaps/thrown_texts.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/inject/kernel/files.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"

namespace traceback::inject {

namespace {

constexpr std::uint64_t kAt = format::thrownTextsAt(sizeof(format::ProcessHeader));
static_assert(kAt % kPage == 0);

constinit format::ThrownTexts* texts = nullptr;  // once its memory is allocated

// Most programs throw nothing: its memory is allocated when something is. A write to a full file system would
// be a SIGBUS.
format::ThrownTexts* openTexts() {
  if (format::ThrownTexts* const open = __atomic_load_n(&texts, __ATOMIC_ACQUIRE)) return open;
  if (process.file == nullptr || process.sandboxed) return nullptr;
  const std::uint64_t start = reinterpret_cast<std::uint64_t>(process.file) + kAt;
  if (failed(systemCall(__NR_madvise, static_cast<long>(start),
                        static_cast<long>(sizeof(format::ThrownTexts)), MADV_POPULATE_WRITE)))
    return nullptr;
  auto* const open = reinterpret_cast<format::ThrownTexts*>(start);
  __atomic_store_n(&texts, open, __ATOMIC_RELEASE);
  return open;
}

}  // namespace

void keepThrownText(std::uint64_t time, const char* text) {
  format::ThrownTexts* const all = openTexts();
  if (all == nullptr) return;
  const std::uint64_t at = __atomic_fetch_add(&all->count, 1, __ATOMIC_RELAXED);
  format::ThrownText& to = all->texts[at % format::kThrownTexts];
  // Who was there a whole round before is not done with it.
  if (__atomic_exchange_n(&to.time, 0, __ATOMIC_RELAXED) == 0 && at >= format::kThrownTexts) return;
  unsigned size = 0;
  for (; size + 1 < sizeof to.text && text[size] != 0; ++size)
    to.text[size] = static_cast<std::uint8_t>(text[size]);
  to.text[size] = 0;
  __atomic_store_n(&to.time, time, __ATOMIC_RELEASE);
}

void forgetThrownTexts() { texts = nullptr; }

bool copyThrownTexts(int file) {
  return texts == nullptr || (!failed(systemCall(__NR_fallocate, file, 0, kAt, sizeof *texts)) &&
                              copyMapping(file, reinterpret_cast<std::uint64_t>(texts), sizeof *texts, kAt));
}

}  // namespace traceback::inject
