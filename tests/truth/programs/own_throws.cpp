// Exceptions through calls of its own functions by the procedure linkage table (see own_slots.c): out of the
// first such call, which binds its slot, and out of later ones.
#include <cstdio>
#include <string>

__attribute__((used, section(".interp"))) static const char kLinker[] = "/lib64/ld-linux-x86-64.so.2";

struct Noisy {
  const char* name;
  ~Noisy() { std::printf("~%s ", name); }
};

long thrower(long n) {
  if (n % 2 != 0) throw std::string("odd");
  return n;
}

long middle(long n) {
  const Noisy noisy{"middle"};
  return thrower(n) + 1;
}

long enter(long n) {
  try {
    const Noisy noisy{"enter"};
    return middle(n);
  } catch (const std::string& text) {
    std::printf("caught %s ", text.c_str());
    return -1;
  }
}

int main() {
  for (long i = 1; i < 6; ++i) std::printf("%ld\n", enter(i));
}
