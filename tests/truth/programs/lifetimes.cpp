// What runs before and after main: constructors, destructors, atexit, priorities, function-local statics.
#include <cstdio>
#include <cstdlib>

namespace {

int order = 0;

struct Global {
  explicit Global(const char* name) : m_name(name), m_order(++order) {
    for (const char* c = name; *c != '\0'; ++c) order += *c == 'e' ? 1 : 0;
  }
  ~Global() { std::printf("%s goes, made %d\n", m_name, m_order); }
  const char* m_name;
  int m_order;
};

Global first("the first");
Global second("the second");

__attribute__((constructor(200))) void early() { order += 100; }
__attribute__((destructor)) void late() { std::printf("late, %d\n", order); }

int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
void atEnd() { std::printf("at exit, depth %d\n", depth(5)); }

Global& local(bool wanted) {
  if (wanted) {
    static Global one("a local one");
    return one;
  }
  static Global other("another");
  return other;
}

}  // namespace

int main() {
  std::atexit(atEnd);
  for (int i = 0; i < 4; ++i) std::printf("%d\n", local(i % 2 == 0).m_order);
  std::printf("main ends, %d\n", order);
  if (order > 50) std::exit(3);
  return 0;
}
