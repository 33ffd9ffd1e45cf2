// Messages of the service's protocol (runtime/format/service.h), to and from bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/error.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/format/service.h"

namespace traceback::collect {

struct BreakDown : format::ServiceProcess {};
struct GroupEvent {
  format::ServiceEvent about{};
  std::vector<format::ServiceMember> members;
};
struct Question {};

using Message = std::variant<BreakDown, format::ServiceGroup, GroupEvent, Question, format::ServiceState,
                             format::ServiceSummary, format::ServiceRefusal>;

// The largest message.
inline constexpr std::size_t kMostMessage = sizeof(format::MessageHeader) + sizeof(format::ServiceEvent) +
                                            format::kMostGroupMembers * sizeof(format::ServiceMember);

Bytes encode(const Message& message);

// Fails with a reason for anything that is not exactly one message. Texts of what it gives are
// zero-terminated and of printable characters.
struct NoMessage {
  format::RefusalReason reason;
  std::string text;
};
std::expected<Message, NoMessage> decode(std::span<const std::uint8_t> packet);

// Cut to what fits.
template <std::size_t N>
void setField(std::uint8_t (&to)[N], const std::string& text) {
  for (std::size_t i = 0; i < N; ++i)
    to[i] = i < text.size() && i + 1 < N ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
}

}  // namespace traceback::collect
