// MD5 (RFC 1321), by which line tables tell one version of a source file from another. It proves nothing
// against those who mean harm.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace traceback::model {

using Md5 = std::array<std::uint8_t, 16>;

Md5 md5(std::span<const std::byte> bytes);
// 32 digits, as md5sum(1) prints it.
std::string text(const Md5& sum);

}  // namespace traceback::model
