// Crashes: nobody catches the exception.
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

struct Trail {
  explicit Trail(int depth) : m_depth(depth) {}
  ~Trail() { std::printf("leaving %d\n", m_depth); }
  int m_depth;
};

int parse(const std::string& text, std::size_t at, int depth) {
  Trail trail(depth);
  if (at >= text.size()) throw std::out_of_range("text ends within brackets");
  if (text[at] == '(') return parse(text, at + 1, depth + 1);
  if (text[at] == ')') return depth == 0 ? 1 : parse(text, at + 1, depth - 1);
  return 0;
}

int guarded(const std::string& text) {
  try {
    return parse(text, 0, 0);
  } catch (const std::logic_error& error) {
    if (text.size() < 5) return -1;
    throw std::runtime_error(error.what());
  }
}

}  // namespace

int main() {
  std::printf("%d\n", guarded("(()))"));
  std::printf("%d\n", guarded("(("));
  std::fflush(stdout);
  std::printf("%d\n", guarded("((((("));
  return 0;
}
