#include "runtime/inject/snaps/thrown_message.h"

#include "runtime/inject/process/own_memory.h"
#include "runtime/inject/rings/thread.h"
#include "runtime/inject/snaps/text_places.h"
#include "runtime/inject/snaps/thrown_texts.h"

namespace traceback::inject {

namespace {

bool readWord(std::uint64_t from, std::uint64_t& to) {
  return readOwnMemory(from, &to, sizeof to) == sizeof to;
}

// Its address; 0 if it cannot be had. Of the words on the way to it the first `own` are the object's, which
// is there; the kernel reads the others.
std::uint64_t textAt(const TextPlace& place, std::uint64_t object, unsigned own) {
  if (!place.isKnown() || place.constant != 0) return place.constant;
  std::uint64_t at = object;
  for (unsigned i = 0; i < place.loads; ++i) {
    at += static_cast<std::uint64_t>(place.offsets[i]);
    if (i < own)
      at = *reinterpret_cast<const std::uint64_t*>(at);
    else if (!readWord(at, at))
      return 0;
    if (at == 0) return 0;
  }
  return at + static_cast<std::uint64_t>(place.offsets[place.loads]);
}

using TextBytes = std::uint8_t[sizeof format::ThrownText::text];
static_assert(sizeof(TextBytes) == sizeof format::ProcessHeader::thrownMessage);

// By the kernel, but for the first `own` words on the way to it; false if nothing is there.
bool readText(const TextPlace& place, std::uint64_t object, unsigned own, TextBytes& text) {
  const std::uint64_t from = textAt(place, object, own);
  return from != 0 && readOwnMemory(from, text, sizeof text - 1) > 0;
}

bool keepsMemory(const format::ProcessHeader& file) {
  return file.keptMemory != static_cast<std::uint32_t>(format::KeptMemory::None);
}

// Where a std::string has a short text, behind its address and size.
constexpr std::uint64_t kInString = 16;

// What the kernel reads takes as long as all else of throwing, and longer: in the long run a twentieth of the
// time at most. Who throws without end says something now and then.
class KernelReading {
 public:
  static bool isPaid() {
    const std::uint64_t ahead = thread().textsPaid - __builtin_ia32_rdtsc();
    return ahead - kMostAhead >= kMostAhead;  // it is not, or the counter was set
  }
  KernelReading() : m_begun(__builtin_ia32_rdtsc()) {}
  ~KernelReading() {
    constexpr std::uint64_t kPrice = 20, kLongest = kMostAhead / 16;  // interrupted ones are no measure
    const std::uint64_t now = __builtin_ia32_rdtsc(), price = kPrice * (now - m_begun);
    std::uint64_t& paid = thread().textsPaid;
    paid = (paid - now < 2 * kMostAhead ? paid : now) + (price < kLongest ? price : kLongest);
  }
  KernelReading(const KernelReading&) = delete;
  KernelReading& operator=(const KernelReading&) = delete;

 private:
  static constexpr std::uint64_t kMostAhead = 1 << 23;  // of a few dozen, or hundreds, in a row
  std::uint64_t m_begun;
};

// Of an object's own string, if it is a short one; else null.
const char* shortText(const TextPlace& place, std::uint64_t object) {
  const std::uint64_t string = object + static_cast<std::uint64_t>(place.offsets[0]);
  const bool isString =
      place.loads == 1 && place.offsets[1] == 0 && textAt(place, object, 1) == string + kInString;
  return isString ? reinterpret_cast<const char*>(string + kInString) : nullptr;
}

void keepText(const Thrown& thrown) {
  if (thrown.time == 0 || process.file == nullptr || !keepsMemory(*process.file)) return;
  const TextPlace place = textPlaceOf(thrown.object, thrown.type);
  if (place.isKept) {
    const std::uint64_t from = textAt(place, thrown.object, place.loads);
    if (from != 0) keepThrownText(thrown.time, reinterpret_cast<const char*>(from));
    return;
  }
  if (!place.isKnown() || process.sandboxed) return;
  TextBytes text = {};
  if (const char* const inside = shortText(place, thrown.object)) {
    memcpy(text, inside, kInString);
    return keepThrownText(thrown.time, reinterpret_cast<const char*>(text));
  }
  if (!KernelReading::isPaid()) return;
  const KernelReading reading;
  if (readText(place, thrown.object, 1, text))
    keepThrownText(thrown.time, reinterpret_cast<const char*>(text));
}

}  // namespace

void rememberThrown(const void* object, const void* type, std::uint64_t time) {
  Thrown& thrown = thread().thrown;
  thrown = {reinterpret_cast<std::uint64_t>(object), reinterpret_cast<std::uint64_t>(type), time};
  keepText(thrown);
}

void copyThrownMessage(format::ProcessHeader& file) {
  const Thrown& thrown = thread().thrown;
  if (thrown.time == 0 || process.sandboxed || !keepsMemory(file)) return;
  TextBytes text = {};
  if (!readText(textPlaceOf(thrown.object, thrown.type), thrown.object, 0, text)) return;
  memcpy(file.thrownMessage, text, sizeof text);
  file.thrownTime = thrown.time;
}

}  // namespace traceback::inject
