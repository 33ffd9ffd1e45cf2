#include "runtime/inject/modules/loaded_file.h"

#include "runtime/format/record.h"
#include "runtime/inject/kernel/files.h"
#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"

namespace traceback::inject {

namespace {

using format::ModuleHeader;
using format::ProcessModule;

// The loaded segment that holds all of [address, address + size), with at least these permissions.
bool findSegment(const dl_phdr_info& info, std::uint64_t address, std::uint64_t size, unsigned flags,
                 Segment& found) {
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & flags) != flags) continue;
    const std::uint64_t start = info.dlpi_addr + segment.p_vaddr;
    if (address < start || size > segment.p_memsz || address - start > segment.p_memsz - size) continue;
    found = {start, start + segment.p_memsz};
    return true;
  }
  return false;
}

bool tableFits(std::uint64_t offset, std::uint64_t count, std::uint64_t each, std::uint64_t total) {
  return count <= total / each && offset <= total && total - offset >= count * each && offset % 4 == 0;
}

}  // namespace

const ModuleHeader* findHeader(const dl_phdr_info& info, Segment& where) {
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_R | PF_X)) != (PF_R | PF_X) ||
        segment.p_filesz < sizeof(ModuleHeader) || segment.p_vaddr % kPage != 0)
      continue;
    const auto* header = reinterpret_cast<const ModuleHeader*>(info.dlpi_addr + segment.p_vaddr);
    if (header->magic != format::kModuleMagic) continue;
    where = {info.dlpi_addr + segment.p_vaddr, info.dlpi_addr + segment.p_vaddr + segment.p_memsz};
    return header;
  }
  return nullptr;
}

bool isSound(const dl_phdr_info& info, const ModuleHeader& header, const Segment& where) {
  const std::uint64_t size = where.end - where.start;
  Segment slots;
  return header.headerSize >= format::kOldestModuleHeaderSize &&
         header.address + info.dlpi_addr == where.start &&
         header.moduleSlots % alignof(format::ModuleSlots) == 0 &&
         findSegment(info, info.dlpi_addr + header.moduleSlots, sizeof(format::ModuleSlots), PF_R | PF_W,
                     slots) &&
         tableFits(header.addressOffset, header.addressCount, sizeof(format::AddressEntry), size) &&
         tableFits(header.fixupOffset, header.fixupCount, sizeof(std::uint32_t), size) &&
         tableFits(header.routineOffset, header.routineCount, sizeof(format::RecordRoutine), size) &&
         tableFits(header.bitRoutineOffset, header.bitRoutineCount, sizeof(format::BitRoutine), size) &&
         tableFits(header.loadRoutineOffset, header.loadRoutineCount, sizeof(format::LoadRoutine), size) &&
         tableFits(header.broughtHeadOffset, header.broughtHeadCount, sizeof(format::BroughtHead), size) &&
         header.copyStart <= header.copyEnd && header.copyStart >= header.address &&
         header.copyEnd - header.address <= size && header.codeBase >= format::kFirstCode &&
         header.codeSpan <= format::kEndCode - format::kFirstCode &&
         header.codeBase <= format::kEndCode - header.codeSpan;
}

bool isProgram(const dl_phdr_info& info) { return info.dlpi_name == nullptr || *info.dlpi_name == 0; }

void setPath(const dl_phdr_info& info, const Segment& where, ProcessModule& module) {
  auto* to = reinterpret_cast<char*>(module.path);
  constexpr std::size_t kSize = sizeof module.path;
  // The dynamic linker knows a library by the name of its original, but a copy from the cache is there.
  if (!process.environment.cache.empty()) {
    mappedFile(where.start, (where.end + kPage - 1) & ~(kPage - 1), to, kSize);
    if (to[0] != 0) return;
  }
  const char* name = info.dlpi_name;
  if (isProgram(info)) {
    const long size = systemCall(__NR_readlink, asLong("/proc/self/exe"), asLong(to), kSize - 1);
    to[failed(size) ? 0 : size] = 0;
    return;
  }
  std::size_t used = 0;
  if (*name != '/') {
    const long size = systemCall(__NR_getcwd, asLong(to), kSize - 2);
    if (!failed(size) && size > 0) {
      used = static_cast<std::size_t>(size) - 1;
      to[used++] = '/';
    }
  }
  if (strlen(name) >= kSize - used) {
    to[0] = 0;
    return;
  }
  memcpy(to + used, name, strlen(name) + 1);
}

void fillBounds(const dl_phdr_info& info, ProcessModule& module) {
  module.loadBias = info.dlpi_addr;
  module.start = ~std::uint64_t{0};
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uint64_t start = info.dlpi_addr + segment.p_vaddr;
    if (start < module.start) module.start = start;
    if (start + segment.p_memsz > module.end) module.end = start + segment.p_memsz;
  }
}

}  // namespace traceback::inject
