// The policy file, which anybody may write, and class names, which any library may hold.
#include <cstring>
#include <string>
#include <vector>

#include "runtime/inject/snaps/policy.h"
#include "runtime/inject/snaps/type_names.h"
#include "tests/fuzz/fuzz_target.h"

using namespace traceback::inject;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> text(data, data + size);  // where reading beyond it is noticed
  Policy policy;
  PolicyProblem problems[4] = {};
  const unsigned wrong = parsePolicy(text.data(), text.size(), policy, problems, 4);
  for (unsigned i = 0; i < wrong && i < 4; ++i)
    if (problems[i].reason == nullptr || problems[i].line == 0) __builtin_trap();
  if (policy.exceptionRules > kMostExceptionRules) __builtin_trap();
  for (unsigned i = 0; i < policy.exceptionRules; ++i)
    if (std::memchr(policy.exceptions[i].name, 0, sizeof policy.exceptions[i].name) == nullptr)
      __builtin_trap();

  const std::string mangled(text.begin(), text.end());
  const struct {
    const void* const* table;
    const char* name;
  } type{nullptr, mangled.c_str()};
  ClassName name;
  nameOfType(&type, name);
  return 0;
}
