// Throws exceptions that find what they say in all kinds of ways, catches each, and prints what it said; then
// aborts, or as it is told.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace shop {

struct Named : std::exception {
  explicit Named(std::string text) : name(std::move(text)) {}
  const char* what() const noexcept override { return name.c_str(); }
  std::string name;
};
struct Derived : Named {
  Derived() : Named("derived, and too long for the object itself") {}
};
struct Constant : std::exception {
  const char* what() const noexcept override { return "a constant"; }
};
struct Literal : std::exception {
  explicit Literal(const char* given) : text(given) {}
  const char* what() const noexcept override { return text; }
  const char* text;
};
struct Inside : std::exception {
  const char* what() const noexcept override { return text.data(); }
  std::array<char, 12> text{"inside"};
};
struct Shared : std::exception {
  struct State {
    int code = 4;
    std::string text = "in what is shared, for all";
  };
  const char* what() const noexcept override { return state->text.c_str(); }
  std::shared_ptr<State> state = std::make_shared<State>();
};
struct Wrapping : std::exception {
  const char* what() const noexcept override { return inner.what(); }
  std::runtime_error inner{"of the one inside"};
};
struct Other {
  virtual ~Other() = default;
  virtual const char* name() const { return "not this one"; }
  int count = 3;
};
struct Second : Other, std::exception {
  const char* what() const noexcept override { return text.c_str(); }
  std::string text = "of the second base";
};
struct Final : std::runtime_error {
  Final() : std::runtime_error("of the base") {}
  const char* what() const noexcept override { return own.c_str(); }
  std::string own = "of its own";
};

// What these say is not found without running them.
struct Lazy : std::exception {
  const char* what() const noexcept override {
    if (text.empty()) text = "made when it is asked for";
    return text.c_str();
  }
  mutable std::string text;
};
struct Choosing : std::exception {
  const char* what() const noexcept override { return code == 1 ? "one" : "another"; }
  int code = std::rand();
};
struct Virtually : virtual std::exception {
  const char* what() const noexcept override { return text.c_str(); }
  std::string text = "behind a virtual base";
};
// And this is no exception.
struct Speaking {
  virtual ~Speaking() = default;
  virtual const char* what() const { return "nobody asked"; }
};

}  // namespace shop

template <typename Thrown>
[[gnu::noinline]] void throwIt(const Thrown& thrown) {
  throw thrown;
}

// "+": it is known what it says.
template <typename Thrown>
void say(char known, const Thrown& thrown) {
  try {
    throwIt(thrown);
  } catch (const std::exception& caught) {
    std::printf("%c%s\n", known, caught.what());
  } catch (const char* caught) {
    std::printf("%c%s\n", known, caught);
  } catch (const std::string& caught) {
    std::printf("%c%s\n", known, caught.c_str());
  } catch (...) {
    std::printf("%c\n", known);
  }
}

static void sayAll() {
  say('+', shop::Named("short"));
  say('+', shop::Derived());
  say('+', shop::Constant());
  say('+', shop::Literal("given to it"));
  say('+', shop::Inside());
  say('+', shop::Shared());
  say('+', shop::Wrapping());
  say('+', shop::Second());
  say('+', shop::Final());
  say('+', std::logic_error("of the library"));
  say('+', std::system_error(std::make_error_code(std::errc::timed_out), "with a code"));
  say('+', static_cast<const char*>("a text"));
  say('+', std::string("a string"));
  say('+', std::logic_error(std::string(300, 'x')));
  say('-', shop::Lazy());
  say('-', shop::Choosing());
  say('-', shop::Virtually());
  say('-', shop::Speaking());
  say('-', 7);
}

int main(int count, char** words) {
  const std::string_view how = count > 1 ? words[1] : "";
  if (how == "says much") {
    for (int i = 0; i < 300; ++i) say('+', std::runtime_error("number " + std::to_string(i)));
  } else {
    sayAll();
  }
  std::fflush(stdout);
  if (how == "is killed") std::raise(SIGKILL);
  std::abort();
}
