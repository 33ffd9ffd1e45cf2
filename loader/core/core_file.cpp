#include "loader/core/core_file.h"

#include <elf.h>
#include <sys/user.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "loader/core/core_notes.h"
#include "loader/core/original_addresses.h"

namespace traceback::loader {

namespace {

constexpr std::uint64_t kStep = format::kSnapBlockSize;
constexpr std::uint64_t kBehindWord = 16;  // up to where it shows that a word is an interrupted pc

// A part of the memory that goes into the file.
struct Segment {
  const RecordedMemory* memory = nullptr;
  std::uint64_t offset = 0, size = 0;  // in it
  std::uint32_t flags = 0;             // PF_*

  std::uint64_t address() const { return memory->range.start + offset; }
};

std::uint32_t flagsOf(const format::Mapping& mapping) {
  return static_cast<std::uint32_t>((mapping.readable ? PF_R : 0) | (mapping.writable ? PF_W : 0) |
                                    (mapping.executable ? PF_X : 0));
}

class CoreWriter {
 public:
  CoreWriter(const RecordedProcess& process, const WriteBytes& write)
      : m_process(process), m_originals(*process.modules), m_write(write) {}

  model::Result<CoreReport> run() {
    const auto threads = coreThreads(m_process);
    if (threads.empty()) return model::fail("has no registers: what was left of a killed process has none");
    m_report.threads = threads.size();
    for (const auto& thread : threads) {
      if (!thread.placeIsKnown) ++m_report.unknownPlaces;
      const auto pointer = thread.recorded->registers[offsetof(user_regs_struct, rsp) / 8];
      if (!std::ranges::any_of(m_process.memory, [pointer](const RecordedMemory& each) {
            return pointer >= each.range.start && pointer - each.range.start < each.range.size;
          }))
        ++m_report.withoutStacks;
    }
    for (const auto& memory : m_process.memory) addSegments(memory);
    dropDamaged();
    // e_phnum has 16 bits. The extension for more is not worth it here: what is last goes.
    constexpr std::size_t kMostSegments = PN_XNUM - 2;
    if (m_segments.size() > kMostSegments) {
      m_report.damagedMemory += m_segments.size() - kMostSegments;
      m_segments.resize(kMostSegments);
    }
    const auto notes = coreNotes(m_process, threads);
    if (writeHeaders(notes.size()) && put(notes) && writeMemory()) return m_report;
    return model::fail("cannot be written");
  }

 private:
  bool put(std::span<const std::byte> bytes) const { return bytes.empty() || m_write(bytes); }

  // What a mapping holds as its file does is left out: of a file that was instrumented it is not the
  // original's.
  void addSegments(const RecordedMemory& memory) {
    const std::uint64_t end = memory.range.start + memory.range.size;
    std::uint64_t at = memory.range.start;
    const auto add = [&](std::uint64_t to, std::uint32_t flags) {
      if (to > at)
        m_segments.push_back(
            {.memory = &memory, .offset = at - memory.range.start, .size = to - at, .flags = flags});
      at = to;
    };
    const auto& mappings = m_process.mappings;
    for (std::size_t i = 0; i < mappings.size() && at < end; ++i) {
      if (mappings[i].end <= at) continue;
      if (mappings[i].start >= end) break;
      add(std::max(at, mappings[i].start), PF_R);  // in no mapping
      const auto to = std::min(end, mappings[i].end);
      if (format::isAsInFile(mappings, i))
        at = to;
      else
        add(to, flagsOf(mappings[i]));
    }
    add(end, PF_R);
  }

  // Before the headers are written, for these say what there is.
  void dropDamaged() {
    std::vector<Segment> whole;
    std::vector<std::byte> bytes(kStep);
    for (const auto& segment : m_segments) {
      bool goesOn = false;
      for (std::uint64_t at = 0; at < segment.size; at += kStep) {
        const auto size = std::min(kStep, segment.size - at);
        if (!segment.memory->bytes->read(segment.offset + at,
                                         std::span(bytes).first(static_cast<std::size_t>(size)))) {
          ++m_report.damagedMemory;
          goesOn = false;
        } else if (goesOn) {
          whole.back().size += size;
        } else {
          whole.push_back(segment);
          whole.back().offset += at;
          whole.back().size = size;
          goesOn = true;
        }
      }
    }
    m_segments = std::move(whole);
  }

  bool writeHeaders(std::uint64_t noteSize) const {
    Elf64_Ehdr file{};
    std::memcpy(file.e_ident, ELFMAG, SELFMAG);
    file.e_ident[EI_CLASS] = ELFCLASS64;
    file.e_ident[EI_DATA] = ELFDATA2LSB;
    file.e_ident[EI_VERSION] = EV_CURRENT;
    file.e_type = ET_CORE;
    file.e_machine = EM_X86_64;
    file.e_version = EV_CURRENT;
    file.e_phoff = sizeof file;
    file.e_ehsize = sizeof file;
    file.e_phentsize = sizeof(Elf64_Phdr);
    file.e_phnum = static_cast<Elf64_Half>(m_segments.size() + 1);
    std::vector<Elf64_Phdr> headers;
    std::uint64_t offset = sizeof file + (m_segments.size() + 1) * sizeof(Elf64_Phdr);
    const auto add = [&](Elf64_Phdr header) {
      header.p_offset = offset;
      offset += header.p_filesz;
      headers.push_back(header);
    };
    add({.p_type = PT_NOTE,
         .p_flags = 0,
         .p_offset = 0,
         .p_vaddr = 0,
         .p_paddr = 0,
         .p_filesz = noteSize,
         .p_memsz = 0,
         .p_align = 4});
    for (const auto& segment : m_segments)
      add({.p_type = PT_LOAD,
           .p_flags = segment.flags,
           .p_offset = 0,
           .p_vaddr = segment.address(),
           .p_paddr = 0,
           .p_filesz = segment.size,
           .p_memsz = segment.size,
           .p_align = 1});
    return put(std::as_bytes(std::span(&file, 1))) && put(std::as_bytes(std::span(headers)));
  }

  bool writeMemory() const {
    std::vector<std::byte> bytes;
    for (const auto& segment : m_segments) {
      for (std::uint64_t at = 0; at < segment.size; at += kStep) {
        const auto size = static_cast<std::size_t>(std::min(kStep, segment.size - at));
        bytes.resize(static_cast<std::size_t>(std::min(kStep + kBehindWord, segment.size - at)));
        if (!segment.memory->bytes->read(segment.offset + at, bytes)) return false;
        if ((segment.memory->range.flags & format::kMemoryStack) != 0)
          translate(bytes, segment.address() + at, size);
        if (!put(std::span(bytes).first(size))) return false;
      }
    }
    return true;
  }

  // A word that is an address in a copy is a return address, or the program counter of a frame that a signal
  // interrupted: the program itself never sees other addresses of copies.
  void translate(std::span<std::byte> bytes, std::uint64_t address, std::size_t size) const {
    for (std::size_t at = (8 - address % 8) % 8; at + 8 <= size; at += 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      const auto original =
          isInterrupted(bytes.subspan(at)) ? m_originals.inOriginal(word) : m_originals.returnAddress(word);
      if (original) std::memcpy(bytes.data() + at, &*original, sizeof *original);
    }
  }

  // As the kernel saves it (ucontext_t): behind the program counter come the flags, then cs, gs, fs and ss,
  // which of 64-bit programs are always these.
  static bool isInterrupted(std::span<const std::byte> bytes) {
    constexpr std::uint64_t kSegments = 0x002B'0000'0000'0033;
    std::uint64_t behind;
    if (bytes.size() < kBehindWord + 8) return false;
    std::memcpy(&behind, bytes.data() + kBehindWord, sizeof behind);
    return behind == kSegments;
  }

  const RecordedProcess& m_process;
  OriginalAddresses m_originals;
  const WriteBytes& m_write;
  std::vector<Segment> m_segments;
  CoreReport m_report;
};

}  // namespace

model::Result<CoreReport> writeCore(const RecordedProcess& process, const WriteBytes& write) {
  return CoreWriter(process, write).run();
}

}  // namespace traceback::loader
