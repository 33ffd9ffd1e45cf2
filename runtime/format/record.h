// The record: what a thread's ring is made of.
//
// A ring is a run of little-endian 32-bit words. The top bits of every word say what it is, so that
// a reader can start at any word and go either way:
//
//   1ccc cccc  cccc cccc  cccc cccc  cccc cccc   DAG record: a 31-bit code (see below)
//   01tt tttt  nnnn nnnn  dddd dddd  dddd dddd   header of an extended record: type t, n payload
//                                                words behind it, detail d
//   001p pppp  pppp pppp  pppp pppp  pppp pppp   payload: 29 bits, so never zero
//   0000 0000  0000 0000  0000 0000  0000 0000   invalid: nothing was written here yet
//   1111 1111  1111 1111  1111 1111  1111 1111   sentinel: the end of a sub-buffer,
//                                                in rings of versions up to 2 (ring.h)
//
// Codes. A DAG that needs b bits for its path owns the 2^b codes from a multiple of 2^b on. Its head
// probe writes the first of them, its light probes OR bits into it. (The paper, figure 1, has a
// fixed split of 21 bits of id and 10 of path; here each DAG takes what it needs.) A module owns the
// codes [base, base + span), which no other module of the process may touch; base is a multiple of what its
// widest DAG owns, and stays so where the runtime moves the module. The first run of codes
// is the bad DAG, no module's: a module that found no room of its own runs untraced, for its probes would say
// what nobody understands.
#pragma once

#include <cstdint>

namespace traceback::format {

using Word = std::uint32_t;

inline constexpr Word kInvalidWord = 0;
inline constexpr Word kSentinelWord = 0xFFFF'FFFF;

// --- DAG records -----------------------------------------------------------------------------------

inline constexpr unsigned kMaxPathBits = 14;
inline constexpr Word kCodeUnit = 1024;  // of bases and spans
inline constexpr Word kDagFlag = 0x8000'0000;
inline constexpr Word kBadDagCode = 0;  // and all others of its unit
inline constexpr Word kFirstCode = kCodeUnit;  // the first that a module may own
inline constexpr Word kEndCode = 0x8000'0000 - kCodeUnit;  // one past the last

constexpr bool isDagRecord(Word word) { return (word & kDagFlag) != 0 && word != kSentinelWord; }
constexpr Word codeOf(Word word) { return word & ~kDagFlag; }
constexpr Word dagRecord(Word code) { return code | kDagFlag; }

// --- Extended records ------------------------------------------------------------------------------

// Payload values are 64-bit unless said otherwise and take kWordsPerValue payload words each, in the
// order named, least significant 29 bits first.
enum class RecordType : std::uint8_t {
  ThreadStart = 1,  // time, tid
  ThreadEnd = 2,  // time, tid
  Timestamp = 3,  // time
  SignalBegin = 4,  // see SignalBeginField; detail: signal number | SignalFlag
  SignalEnd = 5,  // time, pc at which the interrupted code goes on (as in SignalBeginField::Pc)
  // Time, pc, type-info address, and the type's name (kMostTypeNameBytes), if it is known; detail:
  // ExceptionDetail.
  Exception = 6,
  ModuleLoad = 7,  // time, index in the process file's module table
  ModuleUnload = 8,  // time, index in the process file's module table
  Sync = 9,  // time, object, sequence; detail: SyncKind
  Snap = 10,  // time; detail: SnapReason (snap.h)
  LoopCount = 11,  // count
  Resumption = 12,  // position in the segment named by detail from which control came back here
  Gap = 13,  // time; detail: GapReason. Records are missing here.
};

// The order of a SignalBegin's values. It stands in the segment of the handler, not of the code that
// it interrupts: the interrupted segment is left exactly as it was.
enum class SignalBeginField : std::uint8_t {
  Time,  // TSC
  Pc,  // where the signal interrupted the thread: an address in the process, of a copy if
       // it was in instrumented code
  FaultAddress,  // si_addr of a fault, else 0
  SenderOrCode,  // low 32 bits: si_code; high 32 bits: si_pid of a sent signal
  Position,  // position (ring.h) of the interrupted segment's cursor
  Record,  // the word at that position at that time; 0 if that was claimed and not yet written (ring version
           // 1)
  Sequence,  // counts the thread's signals from 0: a hole means that some were overwritten
  Count
};

// What is kept of the name of an exception's type, as people write it, or mangled with "_Z" in front: eight
// bytes a value, the first one lowest, with zeroes behind the last.
inline constexpr unsigned kMostTypeNameBytes = 64;

enum class ExceptionDetail : std::uint16_t {
  Thrown = 0,
  // An earlier one, through a std::exception_ptr. Instead of the type-info: the time in the record of its
  // throw, of whatever thread; 0: there is none, or it is not known.
  Again = 1,
};

enum SignalFlag : std::uint16_t {
  kSignalNumberMask = 0x00FF,
  kSignalFatal = 0x0100,  // the default action follows: the process ends here
  kSignalHandled = 0x0200,  // a handler of the program runs next
  // Once more, at the front of a sub-buffer in which its handler goes on, for the first one is overwritten
  // some time.
  kSignalContinued = 0x0400,
  kSignalSegmentShift = 12,  // bits 12 to 14: number of the interrupted segment
  kSignalSegmentMask = 0x7000,
};

enum class GapReason : std::uint16_t {
  NestedTooDeep = 1,
  HandlerNotWrapped = 2,
  Overwritten = 3,
  Forked =
      4,  // the handler in which this process was forked returned; what it interrupted, the parent recorded
  NoRing = 5,  // at the front of a ring: until here there was none for the thread
  Shared = 6,  // from here on another thread had the same thread-local storage, so neither was recorded
};

enum class SyncKind : std::uint16_t { Fork = 1, ThreadCreate = 2, ThreadJoin = 3 };

inline constexpr Word kHeaderTag = 0x4000'0000;
inline constexpr Word kHeaderMask = 0xC000'0000;
inline constexpr Word kPayloadTag = 0x2000'0000;
inline constexpr Word kPayloadMask = 0xE000'0000;
inline constexpr unsigned kPayloadBits = 29;
inline constexpr unsigned kWordsPerValue = 3;  // 3 * 29 >= 64
inline constexpr Word kPayloadValueMask = (Word{1} << kPayloadBits) - 1;

constexpr bool isHeader(Word word) { return (word & kHeaderMask) == kHeaderTag; }
constexpr bool isPayload(Word word) { return (word & kPayloadMask) == kPayloadTag; }
constexpr RecordType typeOf(Word header) { return RecordType((header >> 24) & 0x3F); }
constexpr unsigned payloadWordsOf(Word header) { return (header >> 16) & 0xFF; }
constexpr std::uint16_t detailOf(Word header) { return std::uint16_t(header); }

constexpr Word header(RecordType type, unsigned payloadWords, std::uint16_t detail) {
  return kHeaderTag | (Word(type) << 24) | (Word(payloadWords) << 16) | detail;
}
// Word i (0, 1, 2) of a 64-bit value.
constexpr Word payload(std::uint64_t value, unsigned i) {
  return kPayloadTag | (Word(value >> (i * kPayloadBits)) & kPayloadValueMask);
}
constexpr std::uint64_t valueOf(Word low, Word middle, Word high) {
  return std::uint64_t(low & kPayloadValueMask) |
         (std::uint64_t(middle & kPayloadValueMask) << kPayloadBits) |
         (std::uint64_t(high & kPayloadValueMask) << (2 * kPayloadBits));
}

static_assert(valueOf(payload(0xFEDC'BA98'7654'3210, 0), payload(0xFEDC'BA98'7654'3210, 1),
                      payload(0xFEDC'BA98'7654'3210, 2)) == 0xFEDC'BA98'7654'3210);
static_assert(isPayload(payload(0, 0)) && !isHeader(payload(0, 0)) && !isDagRecord(payload(0, 0)));
static_assert(!isDagRecord(kSentinelWord) && isDagRecord(dagRecord(kEndCode - 1)));

}  // namespace traceback::format
