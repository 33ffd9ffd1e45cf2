// Many kinds of functions for the reader of debug information: templates, lambdas, several levels of
// inlining, cold parts, code from an included file, functions that the linker drops.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "shapes_inline.h"

namespace shapes {

namespace {

int hidden(int value) { return twice(value) + clampTo(value, 3); }

}  // namespace

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
};

struct Square : Shape {
  explicit Square(int side) : m_side(side) {}
  int area() const override { return square(m_side); }
  int m_side;
};

struct Box : Square {
  using Square::Square;
  int area() const override {
    struct Local {
      static int half(int value) { return value / 2; }
    };
    return Local::half(Square::area());
  }
};

template <typename T>
T sum(const std::vector<T>& values) {
  T total{};
  for (const T& value : values) total += value;
  return total;
}

[[gnu::noinline]] int check(int value) {
  if (__builtin_expect(value > 1000, 0)) {
    std::string text = "too large: ";
    text += std::to_string(value);
    throw std::runtime_error(text);
  }
  return square(value) + square(value + 1);
}

[[gnu::noinline]] int dropped(int value) {
  int total = 0;
  for (int i = 0; i < value; ++i) total += square(i) * hidden(i);
  return total;
}

}  // namespace shapes

int main(int argc, char**) {
  std::vector<int> values{1, 2, 3, argc};
  auto add = [&values](int more) { values.push_back(shapes::hidden(more)); };
  for (int i = 0; i < 10; ++i) add(i);
  shapes::Box box(argc);
  const shapes::Shape& shape = box;
  int total = shapes::sum(values) + shape.area();
  try {
    total += shapes::check(total * (argc > 5 ? 1000 : 1));
  } catch (const std::exception& error) {
    std::puts(error.what());
  }
  std::printf("%d\n", total);
  return total == 0;
}
