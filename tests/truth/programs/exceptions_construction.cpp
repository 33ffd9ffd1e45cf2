// Exceptions where objects are half made: constructors, members, bases, arrays, function-try blocks.
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

int alive = 0;

struct Part {
  explicit Part(int value) : m_value(value) {
    if (value < 0) throw std::invalid_argument("negative part");
    ++alive;
  }
  Part(const Part& other) : m_value(other.m_value) {
    if (m_value == 13) throw std::runtime_error("thirteen cannot be copied");
    ++alive;
  }
  ~Part() { --alive; }
  int m_value;
};

struct Base {
  explicit Base(int value) : m_part(value) {}
  Part m_part;
};

struct Whole : Base {
  Whole(int a, int b, int c) try : Base(a), m_second(b), m_third(c) {
    if (a + b + c > 50) throw std::length_error("too long");
  } catch (const std::exception& error) {
    std::printf("while making: %s\n", error.what());
  }
  Part m_second, m_third;
};

int tryWhole(int a, int b, int c) try {
  Whole whole(a, b, c);
  return whole.m_part.m_value + whole.m_second.m_value + whole.m_third.m_value;
} catch (const std::invalid_argument&) {
  return -1;
} catch (const std::length_error&) {
  return -2;
}

struct Row {
  Row() : m_part(counter == 3 ? -1 : counter) { ++counter; }
  Part m_part;
  static int counter;
};
int Row::counter = 0;

}  // namespace

int main() {
  std::printf("%d\n", tryWhole(1, 2, 3));
  std::printf("%d\n", tryWhole(-1, 2, 3));
  std::printf("%d\n", tryWhole(1, -2, 3));
  std::printf("%d\n", tryWhole(1, 2, -3));
  std::printf("%d, alive %d\n", tryWhole(20, 20, 20), alive);
  try {
    Row rows[6];
    std::printf("%d rows\n", rows[0].m_part.m_value);
  } catch (const std::invalid_argument& error) {
    std::printf("row: %s, alive %d\n", error.what(), alive);
  }
  try {
    std::vector<Part> parts;
    for (int i = 10; i < 20; ++i) parts.push_back(Part(i));
    std::puts("not reached");
  } catch (const std::runtime_error& error) {
    std::printf("vector: %s, alive %d\n", error.what(), alive);
  }
  return 0;
}
