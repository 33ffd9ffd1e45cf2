// Counts how often its functions, which the compiler inlines, are called; says so, and aborts.
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

unsigned ofSquare, ofDistance, ofLimited, ofAt, ofBetter, ofMixed, ofHashOf;

struct Point {
  double x, y;
};
struct Table {
  int values[64];
  int at(int index) const {
    ++ofAt;
    if (index < 0 || index >= 64) std::abort();
    return values[index];
  }
};

double square(double value) {
  ++ofSquare;
  return value * value;
}
double distance(const Point& a, const Point& b) {
  ++ofDistance;
  return square(a.x - b.x) + square(a.y - b.y);
}
int limited(int value, int low, int high) {
  ++ofLimited;
  if (value < low) return low;
  return value > high ? high : value;
}
int better(const Table& table, int i, int j) {
  ++ofBetter;
  return table.at(i) < table.at(j) ? i : j;
}
unsigned mixed(unsigned hash, char next) {
  ++ofMixed;
  hash = (hash ^ static_cast<unsigned char>(next)) * 16777619U;
  return hash ^ (hash >> 13);
}
unsigned hashOf(std::string_view text) {
  ++ofHashOf;
  unsigned hash = 2166136261U;
  for (const char each : text) hash = mixed(hash, each);
  return hash;
}

[[gnu::noinline]] double allDistances(const Point* points, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < count; ++k) sum += distance(points[i], points[k]);
  return sum;
}
[[gnu::noinline]] int best(const Table& table, int count) {
  int found = 0;
  for (int i = 0; i < count; ++i) found = better(table, found, limited(i * 7 % 90, 0, 63));
  return found;
}
[[gnu::noinline]] unsigned hashOfAll(const std::string_view* texts, int count) {
  unsigned hash = 0;
  for (int i = 0; i < count; ++i) hash ^= hashOf(texts[i]);
  return hash;
}

}  // namespace

int main() {
  Point points[12];
  for (int i = 0; i < 12; ++i) points[i] = {i * 1.5, i * 0.25};
  Table table;
  for (int i = 0; i < 64; ++i) table.values[i] = (i * 37) % 64;
  const std::string_view texts[] = {"alpha", "beta", "", "gamma ray", "x"};
  const double far = allDistances(points, 12);
  const int index = best(table, 50);
  const unsigned hash = hashOfAll(texts, 5);
  std::fprintf(stderr, "%g %d %u\n", far, index, hash);
  std::printf("square %u\ndistance %u\nlimited %u\nat %u\nbetter %u\nmixed %u\nhashOf %u\n", ofSquare,
              ofDistance, ofLimited, ofAt, ofBetter, ofMixed, ofHashOf);
  std::fflush(stdout);
  std::abort();
}
