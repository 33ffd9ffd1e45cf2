// The local protocol of the service, tracebackd: what the collector at a fault, `traceback services` and
// `traceback snap --group` say to it, and it to them.
//
// A Unix socket of type SOCK_SEQPACKET with a name in the file system: a packet is one message,
// little-endian,
//
//   MessageHeader | the body that its type has, and not a byte more
//
// The socket is RINGS/service, RINGS being the ring folder (process.h); of root, where XDG_RUNTIME_DIR is not
// set, /run/traceback/service. Its folder is private to the user. Either side looks who the other one is
// (SO_PEERCRED): the same user, or root. The service answers, and says nothing of its own accord. Whoever
// sends what is no message, or one of another version, is told so by a Refusal, and is cut off.
#pragma once

#include <cstdint>

namespace traceback::format {

inline constexpr std::uint32_t kServiceMagic = 0x5653'4254;  // "TBSV"
inline constexpr std::uint16_t kServiceVersion = 1;
inline constexpr char kServiceSocketName[] = "service";
inline constexpr char kServiceRootFolder[] = "/run/traceback";

inline constexpr unsigned kMostGroupMembers = 64;  // snapped together; further ones are left out, and counted
inline constexpr unsigned kGroupNameSize = 32;
inline constexpr unsigned kProgramNameSize = 64;
inline constexpr unsigned kServicePathSize = 512;

enum class MessageType : std::uint16_t {
  BreakDown = 1,  // ServiceProcess: it met a fault, or hangs, and is about to be snapped
  GroupSnap = 2,  // ServiceGroup: all of it are to be snapped
  Event = 3,  // service, in answer to both: ServiceEvent. Who is snapped; no members if nobody else is
  Question = 4,  // no body. What do you watch?
  Answer = 5,  // service: ServiceState, one a process
  AnswerEnd = 6,  // service: ServiceSummary
  Refusal = 7,  // service: ServiceRefusal
};

struct MessageHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t type;  // MessageType
  std::uint32_t size;  // of the body
  std::uint32_t reserved;
};
static_assert(sizeof(MessageHeader) == 16);

// Texts are zero-terminated, and zero from there to their ends.
struct ServiceProcess {
  std::uint32_t pid;
  std::uint32_t reason;  // SnapReason (snap.h) of a BreakDown, else 0
  std::uint64_t start;  // field 22 of /proc/PID/stat
  std::uint8_t group[kGroupNameSize];  // empty if it is of none
  std::uint8_t program[kProgramNameSize];  // the last part of its path
  std::uint8_t snapFolder[kServicePathSize];  // where its snaps go
};
static_assert(sizeof(ServiceProcess) == 624);

struct ServiceMember {
  std::uint32_t pid;
  std::uint32_t reserved;
  std::uint8_t program[kProgramNameSize];
  std::uint8_t snap[kServicePathSize];  // where its snap goes, if nothing is in the way
};
static_assert(sizeof(ServiceMember) == 584);

// Followed by memberCount ServiceMembers, the one that broke down first.
struct ServiceEvent {
  std::uint64_t id;  // names the event in all its snaps
  std::uint64_t realtimeNs;  // the time that their names have
  std::uint32_t cause;  // pid of the process that broke down; 0: somebody asked for it
  std::uint32_t memberCount;
  std::uint32_t leftOut;  // members beyond kMostGroupMembers
  std::uint32_t reserved;
  std::uint8_t group[kGroupNameSize];
};
static_assert(sizeof(ServiceEvent) == 64);

struct ServiceGroup {
  std::uint8_t group[kGroupNameSize];
};

struct ServiceState {
  ServiceProcess process;
  std::uint32_t watched;  // 1 if one of its threads must show life
  std::uint32_t silentSeconds;  // since that did
  std::uint32_t snaps;  // that the service made of it
  std::uint32_t reserved;
};
static_assert(sizeof(ServiceState) == 640);

struct ServiceSummary {
  std::uint64_t upSeconds;
  std::uint64_t events;  // of groups, so far
  std::uint64_t refused;  // strangers, and those who said what is no message
  std::uint32_t pid;  // of the service
  std::uint32_t reserved;
};
static_assert(sizeof(ServiceSummary) == 32);

enum class RefusalReason : std::uint32_t { NoMessage = 1, OtherVersion = 2, NotYours = 3, TooMany = 4 };

struct ServiceRefusal {
  std::uint32_t reason;  // RefusalReason
  std::uint32_t version;  // that the service speaks
};

}  // namespace traceback::format
