// A setting that is no number is noticed by an exception that nobody tells of; much later its default is
// divided by.
#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

struct Settings {
  int limit = 0;
};

[[gnu::noinline]] int number(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') throw std::invalid_argument(text);  // the throw
  return text[0] - '0';
}

Settings load(const std::string& line) {
  Settings settings;
  try {
    settings.limit = number(line);
  } catch (const std::exception&) {
    // The defaults will do.
  }
  return settings;
}

int share(const Settings& settings) {
  return 100 / settings.limit;  // the fault
}

}  // namespace

int main() {
  int sum = share(load("7"));
  const Settings settings = load("oops");
  for (int i = 0; i < 1000; ++i) sum = sum * 31 % 1009;
  std::printf("%d\n", sum + share(settings));
}
