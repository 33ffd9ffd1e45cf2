// What gdb says, line by line.
#include <string_view>

#include "loader/values/mi_parser.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

std::size_t sizeOf(const traceback::loader::MiValue& value) {
  std::size_t size = value.text.size();
  for (const auto& item : value.items) size += item.name.size() + sizeOf(item.value);
  return size;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::size_t sum = 0;
  while (!text.empty()) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : text.size());
    if (const auto record = traceback::loader::parseMiLine(line)) sum += sizeOf(record->results);
  }
  return sum == 1 ? 1 : 0;
}
