// What the compiler folds away: always_inline, lambdas, templates, callbacks of std::sort.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <numeric>

namespace {

__attribute__((always_inline)) inline int clampTo(int value, int low, int high) {
  if (value < low) return low;
  if (value > high) return high;
  return value;
}

template <int N>
struct Power {
  static int of(int base) { return base * Power<N - 1>::of(base); }
};
template <>
struct Power<0> {
  static int of(int) { return 1; }
};

template <typename Range, typename Test>
int countIf(const Range& range, Test test) {
  int count = 0;
  for (const auto& value : range)
    if (test(value)) ++count;
  return count;
}

int apply(const std::function<int(int)>& function, int times, int value) {
  for (int i = 0; i < times; ++i) value = function(value);
  return value;
}

}  // namespace

int main() {
  std::array<int, 40> values{};
  std::iota(values.begin(), values.end(), 3);
  for (int& value : values) value = clampTo(value * 71 % 97, 10, 80);
  int compared = 0;
  std::sort(values.begin(), values.end(), [&compared](int a, int b) {
    ++compared;
    return a % 10 != b % 10 ? a % 10 < b % 10 : a < b;
  });
  std::stable_sort(values.begin() + 5, values.begin() + 25, std::greater<>());
  std::printf("%d %d %d, compared %d\n", values[0], values[20], values[39], compared);
  std::printf("powers %d %d\n", Power<3>::of(3), Power<5>::of(2));
  std::printf("above 40: %d\n", countIf(values, [](int value) { return value > 40; }));
  int step = 3;
  std::printf("applied: %d\n",
              apply([&step](int value) { return value % 2 ? value * step : value / 2; }, 30, 27));
  return 0;
}
