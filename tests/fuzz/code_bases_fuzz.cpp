// The file in which modules agree on their codes: anybody's text, to which a line a module is added.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "instrument/code_bases.h"
#include "runtime/format/record.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace traceback;

// A file without a folder.
class TextFile {
 public:
  TextFile() : m_descriptor(::memfd_create("code_bases", MFD_CLOEXEC)) {
    if (m_descriptor < 0) __builtin_trap();
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { ::close(m_descriptor); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(m_descriptor); }
  void write(const std::string& text) const {
    if (::ftruncate(m_descriptor, 0) != 0 ||
        ::pwrite(m_descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      __builtin_trap();
  }
  std::string text() const {
    std::string text(static_cast<std::size_t>(::lseek(m_descriptor, 0, SEEK_END)), '\0');
    if (::pread(m_descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
      __builtin_trap();
    return text;
  }

 private:
  int m_descriptor;
};

struct Codes {
  std::uint32_t base, span, unit;
};

bool meet(const Codes& a, const Codes& b) { return a.base < b.base + b.span && b.base < a.base + a.span; }

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TextFile file;
  const std::string before(data, data + size);
  file.write(before);
  constexpr std::uint32_t kWish = 0x10000;
  Codes taken[] = {{0, 0x800, 0x400}, {0, 0x4000, 0x4000}, {0, 0x4000'0000, 0x1000}};
  const char* const names[] = {"/code_bases/one", "/code_bases/two", "/code_bases/large"};
  bool all = true;
  for (int i = 0; i < 3; ++i) {
    const std::string text = file.text();
    const auto base = instrument::takeCodes(file.path(), names[i], taken[i].span, taken[i].unit, kWish);
    all = all && base.has_value();
    if (!base) {
      if (base.error().message.empty() || file.text() != text) __builtin_trap();
      continue;
    }
    taken[i].base = *base;
    if (*base % taken[i].unit != 0 || *base < format::kFirstCode ||
        taken[i].span > format::kEndCode - *base || !file.text().starts_with(text))
      __builtin_trap();
  }
  // Those that the text does not already give one place are apart, and each has its own for good.
  for (int i = 0; all && i < 3; ++i) {
    const auto again = instrument::takeCodes(file.path(), names[i], taken[i].span, taken[i].unit, 0x50000);
    if (!again || *again != taken[i].base) __builtin_trap();
    for (int k = 0; k < i; ++k)
      if (!before.contains(names[i]) && !before.contains(names[k]) && meet(taken[i], taken[k]))
        __builtin_trap();
  }
  return 0;
}
