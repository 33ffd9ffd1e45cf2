// Writes the corpora of the snap, map and ring targets from text (tests/builders): make_corpus FOLDER
// For when a format has changed; what is in the repository was written by it.
#include <filesystem>
#include <fstream>
#include <span>

#include "tests/builders/snap_builder.h"

using namespace traceback::tests;

namespace {

constexpr std::string_view kMap = R"(
  function f.cold 800
  dag
  a 4 call 9000 b
  dag
  b 4 tail 1014 returnpoint
  function main 1000
  dag
  a 8 fall h
  dag
  h 4 branch c r loop
  c 4 call 2000 d bit=0
  r 4 return bit=1
  dag
  d 4 jump h returnpoint
  dag
  p 4 return pad
  function f 2000
  dag
  a 8 branch y x
  x 8 multi bit=0
  y 4 return bit=1
  dag
  t 4 tail 1000 table
)";

// Of the newest version: records go on past heads, and through calls.
constexpr std::string_view kPassing = R"(
  version 4
  function main 1000
  dag 3
  a 8 branch h c bit=2 pass0 taken
  c 4 call 2000 r into
  dag
  h 4 branch h r bit=0 loop pass1
  dag
  r 4 return returnpoint
  function f 2000
  dag 2
  a 8 branch y x bit=1 taken
  x 4 call 3000 z into
  y 4 return
  dag
  z 4 tail 3000 into returnpoint
  function g 3000
  dag 1
  a 8 branch l k bit=0 taken
  k 4 return
  l 4 icall -
)";

constexpr std::string_view kRing = R"(
  start
  main.a
  main.h c
  f.a
  signal 14 at f.a+4
  main.a
  main.h c
  signal 10 at main.c+1
  f.a y
  return
  f.a x
  f.t
  main.a
  return
  + x
  f.t
  main.a
  main.h c
  exception main.c+4
  main.p
  sync fork
  gap too-deep
  bad-dag
  word 20000001
  main.a
  signal 11 at main.a+4 fault fatal
)";

void write(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path folder = argv[1];
  const MapText map(kMap);
  RingText::Options options;
  options.subBufferWords = 96;
  options.subBufferCount = 2;
  const RingText ring(kRing, map, options);
  std::string longText = "start\nmain.a\n";
  for (int i = 0; i < 60; ++i)
    longText += "main.h c\nf.a\nsignal 14 at f.a+2\nmain.a\nmain.h r\nreturn\n+ y\nmain.d\n";
  const RingText wrapped(longText, map, options);
  write(folder / "map/small", map.bytes());
  write(folder / "map/passing", MapText(kPassing).bytes());
  write(folder / "ring/handlers", ring.bytes());
  write(folder / "ring/wrapped", wrapped.bytes());
  RingText::Options older = options;
  older.version = 1;
  write(folder / "ring/version1", RingText(longText, map, older).bytes());
  ProcessText process{.map = &map, .ring = &ring, .options = options};
  process.signal = 11;
  process.signalCode = 1;
  process.pc = ring.pcOf("main.a+4");
  process.reason = traceback::format::SnapReason::Fault;
  process.deflate = false;
  write(folder / "snap/fault", process.snap().bytes());
  ProcessText killed{.map = &map, .ring = &wrapped, .options = options};
  write(folder / "snap/recovered", killed.snap().bytes());
  const std::uint64_t stack[] = {ring.pcOf("main.d"), ring.pcOf("main.d+4"), 1};
  const traceback::format::MemoryRange range{
      .start = 0x7000, .size = sizeof stack, .flags = traceback::format::kMemoryStack, .reserved = 0};
  constexpr char kMaps[] =
      "550000001000-550000002000 r-xp 00001000 08:01 7 /cache/prog\n7000-8000 rw-p 0 0 0\n";
  using traceback::format::SectionType;
  write(folder / "snap/memory", process.snap()
                                    .addObject(SectionType::MemoryRanges, range, false)
                                    .add(SectionType::Memory, std::as_bytes(std::span(stack)), 0, false)
                                    .add(SectionType::Mappings, std::as_bytes(std::span(kMaps)), 0, false)
                                    .bytes());
  return 0;
}
