#include "runtime/inject/libc/own_maps.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/format/cache.h"
#include "runtime/inject/kernel/files.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"

namespace traceback::inject {

namespace {

constexpr std::uint64_t kMostSize = 64 << 20;

class Output {
 public:
  explicit Output(long file) : m_file(file) {}

  void add(const char* text, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      m_bytes[m_used++] = text[i];
      if (m_used == sizeof m_bytes) flush();
    }
  }
  bool flush() {
    for (std::size_t done = 0; m_good && done < m_used;) {
      const long wrote =
          systemCall(__NR_write, m_file, asLong(m_bytes + done), static_cast<long>(m_used - done));
      m_good = !failed(wrote) && wrote != 0;
      done += m_good ? static_cast<std::size_t>(wrote) : 0;
    }
    m_used = 0;
    return m_good;
  }

 private:
  long m_file;
  bool m_good = true;
  std::size_t m_used = 0;
  char m_bytes[1024];
};

// Takes it byte by byte. What a path begins with is kept until it tells whether that is a copy's.
class NamesOfOriginals {
 public:
  explicit NamesOfOriginals(Output& output) : m_output(output) {}

  void add(char byte) {
    // START-END FLAGS OFFSET DEVICE INODE      PATH: no other field has a slash.
    if (m_part == Part::Fields && byte == '/') m_part = Part::PathBegins;
    if (m_part == Part::PathBegins && byte != '\n') {
      m_begins[m_size++] = byte;
      if (m_size + 1 == sizeof m_begins) endBeginning();
      return;
    }
    if (m_part == Part::PathBegins) endBeginning();
    m_output.add(&byte, 1);
    if (byte == '\n') m_part = Part::Fields;
  }

 private:
  enum class Part : std::uint8_t { Fields, PathBegins, PathGoesOn };

  void endBeginning() {
    m_begins[m_size] = 0;
    const char* const original = format::originalOf(m_begins, process.environment.cache.c_str());
    const char* const name = original == nullptr ? m_begins : original;
    m_output.add(name, strlen(name));
    m_size = 0;
    m_part = Part::PathGoesOn;
  }

  Output& m_output;
  Part m_part = Part::Fields;
  std::size_t m_size = 0;
  // More than what stands before the original's path, in a copy's.
  char m_begins[sizeof process.environment.cache + 64];
};

bool copyWithNames(long from, long to) {
  Output output(to);
  NamesOfOriginals names(output);
  char buffer[1024];
  long size = 0;
  while (!failed(size = systemCall(__NR_read, from, asLong(buffer), sizeof buffer)) && size != 0)
    for (long i = 0; i < size; ++i) names.add(buffer[i]);
  return size == 0 && output.flush() && !failed(systemCall(__NR_lseek, to, 0, 0 /* SEEK_SET */));
}

}  // namespace

long makeOwnMaps() {
  if (!mayMakeFile(kMostSize)) return -1;
  const long maps = systemCall(__NR_open, asLong("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (failed(maps)) return -1;
  long made = systemCall(__NR_memfd_create, asLong("maps"), MFD_CLOEXEC);
  if (!failed(made) && !copyWithNames(maps, made)) {
    systemCall(__NR_close, made);
    made = -1;
  }
  systemCall(__NR_close, maps);
  return made;
}

}  // namespace traceback::inject
