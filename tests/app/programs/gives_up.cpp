// Ends by std::terminate() or abort(), for an exception or for something else.
#undef NDEBUG
#include <setjmp.h>

#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace shop {

struct OutOfStock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[gnu::noinline]] void take(int wanted, int there) {
  std::string what = "wanted " + std::to_string(wanted);
  if (wanted > there) throw OutOfStock(what);
}

[[gnu::noinline]] void takeForSure(int wanted, int there) noexcept {
  std::string before = "before " + std::to_string(there);
  take(wanted, there);
  std::puts(before.c_str());
}

[[gnu::noinline]] bool tryToTake(int wanted, int there) {
  try {
    take(wanted, there);
    return true;
  } catch (const OutOfStock& error) {
    std::puts(error.what());
    return false;
  }
}

[[gnu::noinline]] void takeAndTell(int wanted, int there) {
  try {
    take(wanted, there);
  } catch (const OutOfStock& error) {
    std::puts(error.what());
    throw;
  }
}

struct Closed : std::runtime_error {
  using std::runtime_error::runtime_error;
  const char* what() const noexcept override { return "on Sundays"; }
};

template <typename T>
struct Broken : std::logic_error {
  using std::logic_error::logic_error;
};

struct Tagged {
  virtual ~Tagged() = default;
  int tag = 7;
};
// As boost::wrapexcept is.
struct Wrapped : Tagged, Broken<int> {
  using Broken<int>::Broken;
};

struct Cart {
  Cart() = default;
  Cart(const Cart&) = delete;
  Cart& operator=(const Cart&) = delete;
  ~Cart() { tryToTake(2, 1); }
};

[[gnu::noinline]] void takeWithACart(int wanted, int there) {
  Cart cart;
  take(wanted, there);
}

[[gnu::noinline]] void takeWithACartForSure(int wanted, int there) noexcept { takeWithACart(wanted, there); }

// While another one is handled; and what was kept is thrown there.
[[gnu::noinline]] void throwsWhatWasKept() {
  std::exception_ptr kept;
  try {
    take(3, 2);
  } catch (...) {
    kept = std::current_exception();
  }
  try {
    throw 1;
  } catch (int) {
    try {
      std::rethrow_exception(kept);
    } catch (const std::exception&) {
      throw;
    }
  }
}

// Of a type that was thrown before, and perhaps where that was.
[[gnu::noinline]] void throwsWhatItMade() {
  std::rethrow_exception(std::make_exception_ptr(OutOfStock("made")));
}

[[gnu::noinline]] void asksForWhatAThreadThrew() {
  auto first = std::async(std::launch::async, take, 3, 2);
  first.wait();
  auto second = std::async(std::launch::async, take, 4, 2);
  second.wait();
  first.get();
}

[[gnu::noipa]] void giveBack(void* memory) { std::free(memory); }

}  // namespace shop

static sigjmp_buf afterAbort;

int main(int count, char** words) {
  const std::string_view how = count > 1 ? words[1] : "";
  std::vector<int> amounts(static_cast<std::size_t>(count), 1);
  shop::tryToTake(2, 1);  // that one is caught
  if (how == "throws") shop::take(3, 2);
  if (how == "throws through noexcept") shop::takeForSure(3, 2);
  if (how == "throws again") shop::takeAndTell(3, 2);
  if (how == "throws in a thread") std::thread(shop::take, 3, 2).join();
  if (how == "has the library throw") return amounts.at(40);
  if (how == "throws a number") throw count;
  if (how == "throws a text") throw "nothing\nleft\n";
  if (how == "throws what speaks for itself") throw shop::Closed("never");
  if (how == "throws what has arguments") throw shop::Broken<std::pair<int, char>>("a cup");
  if (how == "throws what has two bases") throw shop::Wrapped("a bowl");
  if (how == "has the library say what no file is")
    return std::filesystem::file_size("/nowhere/to/be seen") != 0;
  if (how == "has the library say what no stream is") {
    std::ifstream none("/nowhere/to/be seen");
    none.exceptions(std::ios::failbit);
  }
  if (how == "has the library say what no future is") {
    std::promise<int> promise;
    promise.set_value(1);
    promise.set_value(2);
  }
  if (how == "throws what is its own") {
    struct Own {};
    throw Own();
  }
  if (how == "throws another on the way") shop::takeWithACartForSure(3, 2);
  if (how == "throws what was kept") shop::throwsWhatWasKept();
  if (how == "throws what it made") shop::throwsWhatItMade();
  if (how == "asks for what a thread threw") shop::asksForWhatAThreadThrew();
  if (how == "throws, survives and aborts") {
    std::signal(SIGABRT, [](int) { siglongjmp(afterAbort, 1); });
    if (sigsetjmp(afterAbort, 1) == 0) shop::take(3, 2);
    std::signal(SIGABRT, SIG_DFL);
    std::abort();
  }
  if (how == "terminates") std::thread([] {});  // not joined
  if (how == "aborts") std::abort();
  if (how == "asserts") assert(count == 1);
  if (how == "frees twice") {
    void* const memory = std::malloc(24);
    for (int i = 0; i < 2; ++i) shop::giveBack(memory);
  }
  try {
    shop::take(3, 2);
  } catch (const shop::OutOfStock&) {
    std::abort();
  }
}
