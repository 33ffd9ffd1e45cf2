// Exceptions through functions that compilers take apart: .cold parts, inlining, destructors.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

struct Trace {
  const char* name;
  ~Trace() { std::printf("~%s\n", name); }
};

struct Base {
  virtual ~Base() = default;
  virtual int value(int a) const = 0;
};
struct Twice : Base {
  int value(int a) const override { return 2 * a; }
};
struct Picky : Base {
  int value(int a) const override {
    if (a == 3) throw std::out_of_range("three");
    if (a == 4) throw a;
    return -a;
  }
};

[[gnu::noinline]] int work(const Base& base, int a) {
  Trace trace{"work"};
  std::string text = "value of ";
  text += std::to_string(a);
  if (__builtin_expect(a == 7, 0)) throw std::runtime_error(text + std::string(50, '!'));
  return base.value(a) + int(text.size());
}

[[gnu::noinline]] int guarded(const Base& base, int a) try {
  return work(base, a);
} catch (const std::out_of_range& e) {
  std::printf("caught %s\n", e.what());
  return -1;
} catch (int n) {
  std::printf("caught %d\n", n);
  throw std::logic_error("rethrown as another");
}

int main() {
  std::map<std::string, std::vector<int>> results;
  const Twice twice;
  const Picky picky;
  for (int i = 0; i < 9; ++i) {
    for (const Base* base : {static_cast<const Base*>(&twice), static_cast<const Base*>(&picky)}) {
      try {
        results[base == &twice ? "twice" : "picky"].push_back(guarded(*base, i));
      } catch (const std::exception& e) {
        std::printf("%s\n", e.what());
        try {
          throw;
        } catch (const std::runtime_error&) {
          std::printf("again, at runtime\n");
        } catch (...) {
          std::printf("again, something else\n");
        }
      }
    }
  }
  for (const auto& [name, values] : results) {
    std::printf("%s", name.c_str());
    for (const int value : values) std::printf(" %d", value);
    std::printf("\n");
  }
  return 5;
}
