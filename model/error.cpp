#include "model/error.h"

#include <format>

namespace traceback::model {

std::string Error::text() const {
  std::string out = file.empty() ? message : file + ": " + message;
  if (offset) out += std::format(" (at offset {:#x})", *offset);
  return out;
}

}  // namespace traceback::model
