#include "app/traceback/output_file.h"

#include <cstring>
#include <format>

#include "app/traceback/command.h"

namespace traceback::app {

int cannotWrite(const std::string& file, int error) {
  return complain(
      {.message = std::format("cannot write: {}", std::strerror(error)), .file = file, .offset = {}});
}

}  // namespace traceback::app
