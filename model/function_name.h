// Demangled names of functions, shortened.
#pragma once

#include <string>
#include <string_view>

namespace traceback::model {

// Without parameters and return type: "void swap<int>(int&, int&)" is "swap<int>".
std::string_view bareFunctionName(std::string_view name);
// And without its scope.
std::string_view unscopedFunctionName(std::string_view name);
// For titles and columns: the bare name, with long template arguments as "<…>".
std::string shortFunctionName(std::string_view name);

}  // namespace traceback::model
