// What `doctor` looks at.
#pragma once

#include <string>
#include <vector>

namespace traceback::app {

struct Finding {
  enum class State { Good, Note, Bad };
  State state = State::Good;
  std::string subject;  // "ring folder"
  std::string text;     // what is found
  std::string remedy = {};  // what to do; empty if nothing
};

std::vector<Finding> diagnose();

}  // namespace traceback::app
