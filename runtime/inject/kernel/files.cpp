#include "runtime/inject/kernel/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

bool isFolder(const char* path) {
  struct stat status{};
  return !failed(systemCall(__NR_stat, asLong(path), asLong(&status))) && S_ISDIR(status.st_mode);
}

Path& addFolderOf(const Path& file, Path& to) {
  std::size_t size = file.size();
  while (size != 0 && file.c_str()[size - 1] != '/') --size;
  for (std::size_t i = 0; i < size; ++i) {
    const char one[2] = {file.c_str()[i], 0};
    to.add(one);
  }
  return to;
}

int openFolder(const char* path) {
  const long folder = systemCall(__NR_open, asLong(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  return failed(folder) ? -1 : static_cast<int>(folder);
}

void emptyFolder(int folder) {
  // From the front each time, for the entries go away under the reading.
  bool removed = true;
  while (removed) {
    removed = false;
    forEachFile(folder, [&](const char* name) {
      removed |= !failed(systemCall(__NR_unlinkat, folder, asLong(name), 0));
    });
  }
}

std::size_t readFile(const char* path, char* to, std::size_t size) {
  const long file = systemCall(__NR_open, asLong(path), O_RDONLY | O_CLOEXEC);
  std::size_t used = 0;
  while (!failed(file) && used + 1 < size) {
    const long got = systemCall(__NR_read, file, asLong(to + used), static_cast<long>(size - 1 - used));
    if (failed(got) || got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  if (!failed(file)) systemCall(__NR_close, file);
  to[used] = 0;
  return used;
}

bool copyMapping(int file, std::uint64_t from, std::uint64_t size, std::uint64_t at) {
  for (std::uint64_t done = 0; done < size;) {
    const long wrote = systemCall(__NR_pwrite64, file, static_cast<long>(from + done),
                                  static_cast<long>(size - done), static_cast<long>(at + done));
    if (failed(wrote) || wrote == 0) return false;
    done += static_cast<std::uint64_t>(wrote);
  }
  return true;
}

bool mayMakeFile(std::uint64_t size) {
  rlimit limit{};
  if (failed(systemCall(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, asLong(&limit)))) return false;
  return limit.rlim_cur >= size;
}

bool isMapped(const void* start, std::uint64_t size) {
  return !failed(systemCall(__NR_msync, asLong(start), static_cast<long>(size), MS_ASYNC));
}

namespace {

// False if the kernel knows no mapping of just these bounds.
bool readMappingsLink(std::uint64_t start, std::uint64_t end, char* to, std::size_t size) {
  Text<64> link;
  link.add("/proc/self/map_files/").addHexadecimal(start).add("-").addHexadecimal(end);
  const long got = systemCall(__NR_readlink, asLong(link.c_str()), asLong(to), static_cast<long>(size));
  if (failed(got) || got == 0) return false;
  to[static_cast<std::size_t>(got) < size ? got : 0] = 0;  // a longer one is cut off
  return true;
}

// A line of /proc/self/maps: START-END FLAGS OFFSET DEVICE INODE      PATH
void findMappedFile(std::uint64_t address, char* to, std::size_t size) {
  to[0] = 0;
  const long file = systemCall(__NR_open, asLong("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (failed(file)) return;
  char buffer[2048];
  std::uint64_t bound[2] = {0, 0};
  unsigned bounds = 0;  // that were read
  std::size_t used = 0;
  bool done = false;
  while (!done) {
    const long got = systemCall(__NR_read, file, asLong(buffer), sizeof buffer);
    if (failed(got) || got == 0) break;
    for (long i = 0; i < got && !done; ++i) {
      const char c = buffer[i];
      const bool here = bounds == 2 && address >= bound[0] && address < bound[1];
      if (c == '\n') {
        done = here;
        bounds = 0;
        bound[0] = bound[1] = 0;
      } else if (bounds < 2 && (c == '-' || c == ' ')) {
        ++bounds;
      } else if (bounds < 2) {
        bound[bounds] = bound[bounds] << 4 | static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      } else if (here && (used != 0 || c == '/') && used + 1 < size) {
        to[used++] = c;  // no other field has a slash
      }
    }
  }
  systemCall(__NR_close, file);
  to[done && used + 1 < size ? used : 0] = 0;
}

}  // namespace

void mappedFile(std::uint64_t start, std::uint64_t end, char* to, std::size_t size) {
  if (!readMappingsLink(start, end, to, size)) findMappedFile(start, to, size);
}

std::uint64_t pidInProc() {
  char text[24];
  const long size = systemCall(__NR_readlink, asLong("/proc/self"), asLong(text), sizeof text);
  std::uint64_t pid = 0;
  for (long i = 0; i < size && text[i] >= '0' && text[i] <= '9'; ++i)
    pid = pid * 10 + static_cast<std::uint64_t>(text[i] - '0');
  return pid;
}

std::uint64_t pidNamespaceInode() {
  struct stat status{};
  return failed(systemCall(__NR_stat, asLong("/proc/self/ns/pid"), asLong(&status))) ? 0 : status.st_ino;
}

std::uint64_t processStart() {
  char text[1024];
  std::size_t size = readFile("/proc/self/stat", text, sizeof text);
  // The second field is the program's name in parentheses and may hold anything: count from its end.
  while (size != 0 && text[size] != ')') --size;
  if (size == 0) return 0;
  const char* at = text + size + 1;
  for (int field = 2; field < 22; ++field) {
    while (*at == ' ') ++at;
    if (field < 21)
      while (*at != ' ' && *at != 0) ++at;
  }
  std::uint64_t start = 0;
  for (; *at >= '0' && *at <= '9'; ++at) start = start * 10 + static_cast<std::uint64_t>(*at - '0');
  return start;
}

}  // namespace traceback::inject
