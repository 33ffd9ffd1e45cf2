#include "runtime/inject/environment.h"

#include <elf.h>
#include <link.h>

#include "runtime/inject/system.h"

namespace traceback::inject {

namespace {

// The value if `entry` is NAME=value.
char* valueOf(char* entry, const char* name) {
  const std::size_t size = strlen(name);
  return strncmp(entry, name, size) == 0 && entry[size] == '=' ? entry + size + 1 : nullptr;
}

std::uint64_t parseSize(const char* text) {
  std::uint64_t size = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    size = size * 10 + static_cast<std::uint64_t>(*text - '0');
    if (size > std::uint64_t{1} << 40) return 0;
  }
  if (*text == 'K' || *text == 'k') size <<= 10;
  if (*text == 'M' || *text == 'm') size <<= 20;
  if (*text == 'G' || *text == 'g') size <<= 30;
  return size;
}

struct Self {
  std::uint64_t address;
  Path path;
};

int findSelf(dl_phdr_info* info, std::size_t, void* data) {
  auto& self = *static_cast<Self*>(data);
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uint64_t start = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || self.address < start || self.address - start >= segment.p_memsz)
      continue;
    if (info->dlpi_name != nullptr) self.path.add(info->dlpi_name);
    return 1;
  }
  return 0;
}

const char* baseName(const char* path) {
  const char* name = path;
  for (; *path != 0; ++path)
    if (*path == '/') name = path + 1;
  return name;
}

bool isSeparator(char c) { return c == ':' || c == ' '; }

// Takes the words that name this library out of LD_PRELOAD's value, in place. False if none is left.
bool removeOwnEntry(char* value, const char* own) {
  char* to = value;
  for (char* from = value; *from != 0;) {
    char* end = from;
    while (*end != 0 && !isSeparator(*end)) ++end;
    const char kept = *end;
    *end = 0;
    const bool ours = *from != 0 && strcmp(from, own) == 0;
    *end = kept;
    if (!ours) {
      if (to != value) *to++ = ':';
      memmove(to, from, static_cast<std::size_t>(end - from));
      to += end - from;
    }
    from = end + (kept != 0);
  }
  *to = 0;
  return to != value;
}

void setCollector(Environment& environment, const Path& self) {
  if (!environment.collector.empty()) return;
  // FOLDER/lib/libtraceback.so has its program in FOLDER/bin.
  const char* name = baseName(self.c_str());
  Text<1024> folder;
  for (const char* at = self.c_str(); at != name; ++at) {
    const char one[2] = {*at, 0};
    folder.add(one);
  }
  environment.collector.add(folder.c_str()).add("../bin/traceback");
}

}  // namespace

void takeEnvironment(char** entries, Environment& environment) {
  char** end = entries;
  while (*end != nullptr) ++end;
  for (const auto* aux = reinterpret_cast<const ElfW(auxv_t)*>(end + 1); aux->a_type != AT_NULL; ++aux)
    if (aux->a_type == AT_SECURE && aux->a_un.a_val != 0) environment.off = true;

  Self self{reinterpret_cast<std::uint64_t>(&takeEnvironment), {}};
  dl_iterate_phdr(findSelf, &self);

  char** to = entries;
  for (char** from = entries; *from != nullptr; ++from) {
    bool keep = true;
    char* entry = *from;
    if (char* value = valueOf(entry, "TRACEBACK")) {
      if (strcmp(value, "off") == 0) environment.off = true;
    } else if ((value = valueOf(entry, "TRACEBACK_SNAP_DIR"))) {
      environment.snapFolder.add(value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_BUFFER_SIZE"))) {
      environment.bufferSize = parseSize(value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_COLLECTOR"))) {
      environment.collector.add(value);
      keep = false;
    } else if ((value = valueOf(entry, "TRACEBACK_PROGRAM"))) {
      environment.program.add(value);
      keep = false;
    } else if ((value = valueOf(entry, "XDG_RUNTIME_DIR"))) {
      environment.runtimeFolder.add(value);
    } else if (valueOf(entry, "XDG_STATE_HOME") != nullptr) {
      environment.stateHome.add(entry);
    } else if (valueOf(entry, "HOME") != nullptr) {
      environment.home.add(entry);
    } else if ((value = valueOf(entry, "LD_PRELOAD"))) {
      keep = removeOwnEntry(value, self.path.c_str());
    }
    if (keep) *to++ = entry;
  }
  *to = nullptr;
  setCollector(environment, self.path);
}

}  // namespace traceback::inject
