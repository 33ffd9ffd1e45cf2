// What the tests of readers have in common: a map as text, and a way to damage bytes.
#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

namespace traceback::tests {

inline constexpr std::string_view kMap = R"(
  function main 1000
  dag
  a 8 branch c b
  b 4 fall c bit=0
  c 4 call 2000 d bit=1
  dag
  d 4 return returnpoint
  function f 2000
  dag
  a 8 return
)";

template <typename T>
void put(std::vector<std::byte>& bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

}  // namespace traceback::tests
