#include "runtime/collect/service/service_message.h"

#include <algorithm>
#include <cstring>
#include <format>

namespace traceback::collect {

namespace {

using format::MessageHeader;
using format::MessageType;
using format::RefusalReason;

template <typename T>
void append(Bytes& to, const T& value) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

struct Encoder {
  Bytes body;
  MessageType type{};

  template <typename T>
  void plain(MessageType of, const T& value) {
    type = of;
    append(body, value);
  }
  void event(MessageType of, const GroupEvent& message) {
    type = of;
    format::ServiceEvent about = message.about;
    const std::size_t count = std::min<std::size_t>(message.members.size(), format::kMostGroupMembers);
    about.memberCount = static_cast<std::uint32_t>(count);
    append(body, about);
    for (std::size_t i = 0; i < count; ++i) append(body, message.members[i]);
  }
  void operator()(const BreakDown& message) {
    plain(MessageType::BreakDown, static_cast<const format::ServiceProcess&>(message));
  }
  void operator()(const GroupEvent& message) { event(MessageType::Event, message); }
  void operator()(const format::ServiceGroup& message) { plain(MessageType::GroupSnap, message); }
  void operator()(const Question&) { type = MessageType::Question; }
  void operator()(const format::ServiceState& message) { plain(MessageType::Answer, message); }
  void operator()(const format::ServiceSummary& message) { plain(MessageType::AnswerEnd, message); }
  void operator()(const format::ServiceRefusal& message) { plain(MessageType::Refusal, message); }
};

// What stands in a text goes to terminals and into files of lines.
template <std::size_t N>
bool isText(const std::uint8_t (&field)[N]) {
  const auto* const end = std::find(field, field + N, std::uint8_t{0});
  return end != field + N && std::all_of(end, field + N, [](std::uint8_t byte) { return byte == 0; }) &&
         std::none_of(field, end, [](std::uint8_t byte) { return byte < 0x20 || byte == 0x7F; });
}

bool isSound(const format::ServiceProcess& process) {
  return process.pid != 0 && process.pid <= INT32_MAX && isText(process.group) && isText(process.program) &&
         isText(process.snapFolder);
}
bool isSound(const format::ServiceMember& member) { return isText(member.program) && isText(member.snap); }
bool isSound(const format::ServiceGroup& group) { return isText(group.group); }
bool isSound(const format::ServiceState& state) { return isSound(state.process); }
template <typename T>
bool isSound(const T&) {
  return true;
}

std::unexpected<NoMessage> none(std::string text, RefusalReason reason = RefusalReason::NoMessage) {
  return std::unexpected(NoMessage{reason, std::move(text)});
}

// All of `body` as one T.
template <typename As, typename Body>
std::expected<Message, NoMessage> plain(std::span<const std::uint8_t> body) {
  Body value;
  if (body.size() != sizeof value) return none("of another size than its type has");
  std::memcpy(&value, body.data(), sizeof value);
  if (!isSound(value)) return none("with a field that cannot be");
  return As{value};
}

template <typename As>
std::expected<Message, NoMessage> eventIn(std::span<const std::uint8_t> body) {
  As result;
  if (body.size() < sizeof result.about) return none("cut short");
  std::memcpy(&result.about, body.data(), sizeof result.about);
  body = body.subspan(sizeof result.about);
  const std::uint32_t count = result.about.memberCount;
  if (count > format::kMostGroupMembers || body.size() != count * sizeof(format::ServiceMember))
    return none("of another size than its members have");
  if (!isText(result.about.group)) return none("with a field that cannot be");
  result.members.resize(count);
  if (count != 0) std::memcpy(result.members.data(), body.data(), body.size());
  for (const format::ServiceMember& member : result.members)
    if (!isSound(member)) return none("with a field that cannot be");
  return result;
}

}  // namespace

Bytes encode(const Message& message) {
  Encoder encoder;
  std::visit(encoder, message);
  Bytes packet;
  append(packet, MessageHeader{.magic = format::kServiceMagic,
                               .version = format::kServiceVersion,
                               .type = static_cast<std::uint16_t>(encoder.type),
                               .size = static_cast<std::uint32_t>(encoder.body.size()),
                               .reserved = 0});
  packet.insert(packet.end(), encoder.body.begin(), encoder.body.end());
  return packet;
}

std::expected<Message, NoMessage> decode(std::span<const std::uint8_t> packet) {
  MessageHeader header;
  if (packet.size() < sizeof header) return none("cut short");
  std::memcpy(&header, packet.data(), sizeof header);
  if (header.magic != format::kServiceMagic) return none("without its magic");
  if (header.version != format::kServiceVersion)
    return none(std::format("of version {}", header.version), RefusalReason::OtherVersion);
  const auto body = packet.subspan(sizeof header);
  if (header.size != body.size()) return none("of another size than it says");
  switch (static_cast<MessageType>(header.type)) {
    case MessageType::BreakDown:
      return plain<BreakDown, format::ServiceProcess>(body);
    case MessageType::Event:
      return eventIn<GroupEvent>(body);
    case MessageType::GroupSnap:
      return plain<format::ServiceGroup, format::ServiceGroup>(body);
    case MessageType::Question:
      if (!body.empty()) return none("of another size than its type has");
      return Question{};
    case MessageType::Answer:
      return plain<format::ServiceState, format::ServiceState>(body);
    case MessageType::AnswerEnd:
      return plain<format::ServiceSummary, format::ServiceSummary>(body);
    case MessageType::Refusal:
      return plain<format::ServiceRefusal, format::ServiceRefusal>(body);
  }
  return none(std::format("of unknown type {}", header.type));
}

}  // namespace traceback::collect
