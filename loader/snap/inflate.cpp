#include "loader/snap/inflate.h"

#include <zlib.h>

#include <algorithm>

namespace traceback::loader {

std::uint32_t crcOf(Bytes bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

namespace {

struct Inflater {
  z_stream stream{};
  bool ready = false;
  Inflater() { ready = inflateInit(&stream) == Z_OK; }
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

}  // namespace

std::optional<std::vector<std::byte>> inflateTo(Bytes stored, std::uint64_t size) {
  Inflater inflater;
  if (!inflater.ready) return std::nullopt;
  constexpr std::size_t kStep = std::size_t{1} << 20;
  auto& stream = inflater.stream;
  std::vector<std::byte> out;
  std::size_t produced = 0, consumed = 0;
  for (;;) {
    if (produced == out.size() && out.size() < size) {
      out.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(size, out.size() + std::max(kStep, out.size()))));
    }
    const auto in = static_cast<uInt>(std::min(stored.size() - consumed, kStep));
    const auto room = static_cast<uInt>(std::min(out.size() - produced, kStep));
    std::byte spare{};  // lets the stream end without room, and shows when it is longer than it says
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(stored.data() + consumed));
    stream.avail_in = in;
    stream.next_out = reinterpret_cast<Bytef*>(room == 0 ? &spare : out.data() + produced);
    stream.avail_out = room == 0 ? 1 : room;
    const auto offered = stream.avail_out;
    const int status = inflate(&stream, Z_NO_FLUSH);
    consumed += in - stream.avail_in;
    const auto got = offered - stream.avail_out;
    if (room == 0 && got != 0) return std::nullopt;
    produced += got;
    if (status == Z_STREAM_END) break;
    if (status != Z_OK || (got == 0 && stream.avail_in == in)) return std::nullopt;
  }
  if (produced != size) return std::nullopt;
  out.resize(produced);
  return out;
}

}  // namespace traceback::loader
