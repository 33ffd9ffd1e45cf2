#include "runtime/collect/snap/memory_reader.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <format>
#include <optional>

namespace traceback::collect {

namespace {

using format::KeptMemory;
using format::Mapping;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kRedZone = 128;  // below the stack pointer (System V ABI, x86-64, 3.2.2)
// A stack that overflowed ends this far above its stack pointer, at most.
constexpr std::uint64_t kMostGuard = std::uint64_t{1} << 20;

class MemoryFile {
 public:
  explicit MemoryFile(pid_t pid)
      : m_file(::open(std::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC)) {}

  // How many bytes from `address` on could be read.
  std::size_t read(std::uint64_t address, std::span<std::uint8_t> out) const {
    std::size_t done = 0;
    while (m_file.isOpen() && done < out.size()) {
      const ssize_t got = ::pread(m_file.descriptor(), out.data() + done, out.size() - done,
                                  static_cast<off_t>(address + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }
  template <typename T>
  std::optional<T> get(std::uint64_t address) const {
    T value;
    const std::span bytes(reinterpret_cast<std::uint8_t*>(&value), sizeof value);
    return read(address, bytes) == sizeof value ? std::optional(value) : std::nullopt;
  }

 private:
  SystemFile m_file;
};

struct Range {
  std::uint64_t start, end;
  std::uint32_t flags;
};

// Ranges that do not overlap, by address: of two that would, the one that was added first has the bytes.
class Ranges {
 public:
  void add(Range range) {
    for (auto it = m_ranges.begin(); it != m_ranges.end() && range.start < range.end; ++it) {
      if (it->end <= range.start) continue;
      if (it->start >= range.end) break;
      if (range.start < it->start) it = std::next(m_ranges.insert(it, {range.start, it->start, range.flags}));
      range.start = it->end;
    }
    if (range.start >= range.end) return;
    m_ranges.insert(std::ranges::upper_bound(m_ranges, range.start, {}, &Range::start), range);
  }
  // What lies side by side and is of one kind is one.
  std::vector<Range> all() const {
    std::vector<Range> merged;
    for (const Range& range : m_ranges)
      if (!merged.empty() && merged.back().end == range.start && merged.back().flags == range.flags)
        merged.back().end = range.end;
      else
        merged.push_back(range);
    return merged;
  }

 private:
  std::vector<Range> m_ranges;
};

// The mapping that holds the stack; the end if there is none.
auto stackAt(std::span<const Mapping> mappings, std::uint64_t stackPointer) {
  const auto holder = std::ranges::find_if(
      mappings, [&](const Mapping& mapping) { return mapping.end > stackPointer && mapping.writable; });
  const bool far =
      holder != mappings.end() && holder->start > stackPointer && holder->start - stackPointer > kMostGuard;
  return far ? mappings.end() : holder;
}

void addStack(Ranges& ranges, const MemoryRequest& request, std::uint64_t stackPointer) {
  const auto holder = stackAt(request.mappings, stackPointer);
  if (holder == request.mappings.end()) return;
  const std::uint64_t start =
      std::max(stackPointer - std::min(stackPointer, kRedZone), holder->start) & ~std::uint64_t{7};
  const std::uint64_t most = request.kept == KeptMemory::Stacks ? kMostOfStack : kMostMemory;
  const std::uint64_t share = (kMostMemory / request.stackPointers.size()) & ~std::uint64_t{7};
  ranges.add({start, start + std::min({holder->end - start, most, share}), format::kMemoryStack});
}

void addLinkMaps(Ranges& ranges, const MemoryFile& memory, std::uint64_t address) {
  constexpr unsigned kMost = 4096;
  for (unsigned i = 0; address != 0 && i < kMost; ++i) {
    const auto map = memory.get<link_map>(address);
    if (!map) return;
    ranges.add({address, address + sizeof(link_map), 0});
    const auto name = reinterpret_cast<std::uint64_t>(map->l_name);
    std::uint8_t text[4096];
    const auto got = std::span(text).first(memory.read(name, text));
    const auto end = std::ranges::find(got, 0);
    if (end != got.end()) ranges.add({name, name + static_cast<std::uint64_t>(end - got.begin()) + 1, 0});
    address = reinterpret_cast<std::uint64_t>(map->l_next);
  }
}

// What a debugger goes by to find the loaded libraries: the program's dynamic section, the dynamic linker's
// r_debug and its list of link maps with their names (link.h).
void addLibraryList(Ranges& ranges, const MemoryFile& memory, std::span<const std::uint8_t> auxiliaryVector) {
  std::uint64_t headers = 0, count = 0;
  for (std::size_t at = 0; at + sizeof(Elf64_auxv_t) <= auxiliaryVector.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, auxiliaryVector.data() + at, sizeof entry);
    if (entry.a_type == AT_PHDR) headers = entry.a_un.a_val;
    if (entry.a_type == AT_PHNUM) count = std::min<std::uint64_t>(entry.a_un.a_val, 256);
  }
  std::uint64_t bias = 0, debug = 0;
  std::optional<Elf64_Phdr> dynamic;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto header = memory.get<Elf64_Phdr>(headers + i * sizeof(Elf64_Phdr));
    if (!header) return;
    if (header->p_type == PT_PHDR) bias = headers - header->p_vaddr;
    if (header->p_type == PT_DYNAMIC) dynamic = header;
  }
  if (!dynamic || dynamic->p_memsz > 64 * kPage) return;
  const std::uint64_t start = bias + dynamic->p_vaddr;
  ranges.add({start, start + dynamic->p_memsz, 0});
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->p_memsz; at += sizeof(Elf64_Dyn))
    if (const auto entry = memory.get<Elf64_Dyn>(start + at); entry && entry->d_tag == DT_DEBUG)
      debug = entry->d_un.d_ptr;
  // One list a namespace (dlmopen(3)); each is there from version 2 on, and says where the next is.
  constexpr unsigned kMostNamespaces = 16;
  for (unsigned i = 0; debug != 0 && i < kMostNamespaces; ++i) {
    const auto list = memory.get<r_debug_extended>(debug);
    if (!list) return;
    ranges.add({debug, debug + sizeof *list, 0});
    addLinkMaps(ranges, memory, reinterpret_cast<std::uint64_t>(list->base.r_map));
    debug = list->base.r_version > 1 ? reinterpret_cast<std::uint64_t>(list->r_next) : 0;
  }
}

bool isKept(const MemoryRequest& request, std::size_t index) {
  const Mapping& mapping = request.mappings[index];
  if (request.withoutStacks && std::ranges::any_of(request.stackPointers, [&](std::uint64_t pointer) {
        return stackAt(request.mappings, pointer) == request.mappings.begin() + index;
      }))
    return false;
  if (!mapping.readable || mapping.path.starts_with("[vv") || mapping.path == "[vsyscall]") return false;
  if (mapping.path.starts_with("/dev/") && !mapping.path.starts_with("/dev/shm/")) return false;
  if (!request.ownFolder.empty() && mapping.path.starts_with(request.ownFolder + '/')) return false;
  if (request.kept == KeptMemory::All) return true;
  return mapping.path == "[vdso]" ||
         (request.kept == KeptMemory::Writable && !mapping.shared &&
          (mapping.writable || (mapping.isFile() && !isAsInFile(request.mappings, index))));
}

// A part for each stretch that can be read.
void readRange(const MemoryFile& memory, const Range& range, std::vector<MemoryPart>& parts) {
  for (std::uint64_t at = range.start; at < range.end;) {
    MemoryPart part{.start = at, .flags = range.flags, .bytes = Bytes(range.end - at)};
    part.bytes.resize(memory.read(at, part.bytes));
    at += part.bytes.size();
    if (!part.bytes.empty()) {
      part.bytes.shrink_to_fit();
      parts.push_back(std::move(part));
    }
    if (at < range.end) at = (at / kPage + 1) * kPage;
  }
}

}  // namespace

ProcessMemory readMemory(pid_t pid, const MemoryRequest& request) {
  ProcessMemory result;
  // Nothing of the program's own, but where its code lies.
  if (auto vector = readWhole(std::format("/proc/{}/auxv", pid))) result.auxiliaryVector = std::move(*vector);
  if (request.kept == KeptMemory::None) return result;
  const MemoryFile memory(pid);
  Ranges ranges;
  if (!request.withoutStacks)
    for (const std::uint64_t pointer : request.stackPointers) addStack(ranges, request, pointer);
  addLibraryList(ranges, memory, result.auxiliaryVector);
  std::uint64_t size = 0;
  for (const Range& range : ranges.all()) size += range.end - range.start;
  for (std::size_t i = 0; i < request.mappings.size(); ++i) {
    const Mapping& mapping = request.mappings[i];
    if (!isKept(request, i)) continue;
    const std::uint64_t more = mapping.end - mapping.start;
    if (more > kMostMemory || size > kMostMemory - more) {
      result.leftOut += more;
      continue;
    }
    size += more;
    ranges.add({mapping.start, mapping.end, 0});
  }
  for (const Range& range : ranges.all()) readRange(memory, range, result.parts);
  return result;
}

Bytes readSignalRegisters(pid_t pid, std::uint64_t address) {
  // What the kernel says of the area, in bytes that FXSAVE does not use (asm/sigcontext.h, _fpx_sw_bytes).
  struct Software {
    std::uint32_t magic;
    std::uint32_t extendedSize;
    std::uint64_t features;
    std::uint32_t size;
  };
  constexpr std::size_t kSoftware = 464, kLegacySize = 512, kMostSize = std::size_t{64} << 10;
  constexpr std::uint32_t kMagic = 0x4650'5853;
  const MemoryFile memory(pid);
  const auto software = memory.get<Software>(address + kSoftware);
  if (address == 0 || !software) return {};
  const bool extended =
      software->magic == kMagic && software->size >= kLegacySize && software->size <= kMostSize;
  Bytes bytes(extended ? software->size : kLegacySize);
  if (memory.read(address, bytes) != bytes.size()) return {};
  // ptrace has the enabled features there, and nothing else.
  std::fill(bytes.begin() + kSoftware, bytes.begin() + kLegacySize, std::uint8_t{0});
  if (extended) std::memcpy(bytes.data() + kSoftware, &software->features, sizeof software->features);
  return bytes;
}

}  // namespace traceback::collect
