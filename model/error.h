// An error that a person can act on: what is wrong, in which file, where in it.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>

namespace traceback::model {

struct Error {
  std::string message;                  // "not an ELF file"; no file name, no full stop
  std::string file;                     // empty if none
  std::optional<std::uint64_t> offset;  // in the file
  // "FILE: message (at offset 0x1234)"
  std::string text() const;
};

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string message, std::string file = {},
                                   std::optional<std::uint64_t> offset = {}) {
  return std::unexpected(Error{std::move(message), std::move(file), offset});
}

}  // namespace traceback::model
