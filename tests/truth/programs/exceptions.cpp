// C++ exceptions: through several frames with cleanups, rethrown, nested, caught by base.
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

struct Guard {
  explicit Guard(int id) : m_id(id) {}
  ~Guard() { std::printf("  leaving %d\n", m_id); }
  int m_id;
};

void thrower(int depth, int what) {
  Guard guard(depth);
  if (depth > 0) {
    thrower(depth - 1, what);
    std::puts("not reached");
    return;
  }
  switch (what) {
    case 0:
      throw 42;
    case 1:
      throw std::out_of_range("range");
    case 2:
      throw std::string("text");
    default:
      throw std::runtime_error("run");
  }
}

int catcher(int what) {
  try {
    thrower(4, what);
  } catch (int value) {
    return value;
  } catch (const std::logic_error& error) {
    std::printf("logic error: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::printf("exception: %s\n", error.what());
    return 2;
  } catch (...) {
    std::puts("something else");
    return 3;
  }
  return 0;
}

void rethrower(int what) {
  try {
    Guard guard(100);
    thrower(1, what);
  } catch (const std::exception&) {
    std::puts("on its way");
    throw;
  }
}

int nested(int what) {
  try {
    try {
      rethrower(what);
    } catch (const std::out_of_range&) {
      Guard guard(200);
      try {
        throw 7;
      } catch (int seven) {
        std::printf("inner %d\n", seven);
        throw std::runtime_error("from a handler");
      }
    }
  } catch (const std::runtime_error& error) {
    std::printf("outer: %s\n", error.what());
    return 10;
  } catch (...) {
    return 11;
  }
  return 12;
}

}  // namespace

int main() {
  for (int what = 0; what < 4; ++what) std::printf("caught %d\n", catcher(what));
  for (int what = 0; what < 4; ++what) std::printf("nested %d\n", nested(what));
  return 0;
}
