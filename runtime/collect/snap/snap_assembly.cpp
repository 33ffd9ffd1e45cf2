#include "runtime/collect/snap/snap_assembly.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <format>

#include "runtime/collect/files/default_folders.h"
#include "runtime/collect/files/file_rights.h"
#include "runtime/collect/snap/host.h"
#include "runtime/collect/snap/map_slicer.h"
#include "runtime/collect/snap/redaction.h"
#include "runtime/collect/snap/snap_writer.h"

namespace traceback::collect {

namespace {

using format::SnapThread;

constexpr std::uint32_t kNoRing = 0xFFFF'FFFF;
static_assert(sizeof(user_regs_struct) == sizeof(SnapThread::registers));
static_assert(sizeof(format::ProcessHeader::faultRegisters) == sizeof(SnapThread::registers));
constexpr unsigned kProgramCounter = 16;  // in user_regs_struct

template <typename T>
std::span<const std::uint8_t> bytesOf(const T* data, std::size_t count) {
  return {reinterpret_cast<const std::uint8_t*>(data), count * sizeof(T)};
}
std::span<const std::uint8_t> bytesOf(const std::string& text) { return bytesOf(text.data(), text.size()); }

std::string timeName(std::uint64_t realtimeNs) {
  const auto seconds = static_cast<time_t>(realtimeNs / 1'000'000'000);
  struct tm local{};
  char text[32] = {};
  if (::localtime_r(&seconds, &local) != nullptr) std::strftime(text, sizeof text, "%Y%m%dT%H%M%S", &local);
  return text;
}

void setName(SnapThread& thread, const std::string& name) {
  std::memcpy(thread.name, name.data(), std::min(name.size(), sizeof thread.name - 1));
}

std::vector<SnapThread> threadsOf(const SnapContents& contents) {
  const ProcessFolder& folder = contents.folder;
  std::vector<SnapThread> threads;
  std::vector<bool> taken(folder.rings.size());
  const auto takeRing = [&](SnapThread& thread, std::size_t ring) {
    taken[ring] = true;
    thread.ringIndex = static_cast<std::uint32_t>(ring);
    thread.flags |= format::kThreadHasRing;
  };
  for (const ThreadSnapshot& living : contents.threads) {
    SnapThread thread{};
    thread.tid = static_cast<std::uint32_t>(living.tid);
    thread.ringIndex = kNoRing;
    setName(thread, living.name);
    if (living.hasRegisters) {
      thread.flags |= format::kThreadHasRegisters;
      std::memcpy(thread.registers, &living.registers, sizeof thread.registers);
    }
    if (living.wait) {
      thread.flags |= living.wait->forEnd ? format::kThreadWaitsForEnd : format::kThreadWaitsForLock;
      thread.waitsFor = static_cast<std::uint32_t>(living.wait->tid);
    }
    // The ring in use; or the one that it closed, if the thread is just ending.
    std::optional<std::size_t> own;
    for (std::size_t i = 0; i < folder.rings.size(); ++i) {
      const auto header = folder.rings[i].header();
      if (!header || header->tid != thread.tid) continue;
      const bool inUse = header->state == static_cast<std::uint32_t>(format::RingState::InUse);
      if (inUse || !own) own = i;
      if (inUse) break;
    }
    if (own) takeRing(thread, *own);
    threads.push_back(thread);
  }
  // What is left belongs to threads that ended, or to a process that did.
  for (std::size_t i = 0; i < folder.rings.size(); ++i) {
    const auto header = folder.rings[i].header();
    if (taken[i] || !header) continue;
    SnapThread thread{};
    thread.tid = header->tid;
    std::memcpy(thread.name, header->name, sizeof thread.name);
    if (contents.livingProcess || header->state == static_cast<std::uint32_t>(format::RingState::ThreadEnded))
      thread.flags |= format::kThreadEnded;
    takeRing(thread, i);
    threads.push_back(thread);
  }
  const format::ProcessHeader& process = folder.header;
  if (process.faultSignal != 0) {
    const auto faulting = std::ranges::find_if(threads, [&](const SnapThread& thread) {
      return thread.tid == process.faultTid && (thread.flags & format::kThreadEnded) == 0;
    });
    if (faulting != threads.end()) {
      faulting->flags |= format::kThreadAtFault;
      if (process.faultRegisters[kProgramCounter] != 0) {
        faulting->flags |= format::kThreadHasRegisters;
        std::memcpy(faulting->registers, process.faultRegisters, sizeof faulting->registers);
      }
    }
  }
  return threads;
}

format::SnapReasonData reasonData(const SnapContents& contents) {
  const format::ProcessHeader& process = contents.folder.header;
  format::SnapReasonData reason{};
  reason.reason = static_cast<std::uint32_t>(contents.reason);
  reason.realtimeNs = contents.realtimeNs;
  reason.tsc = contents.tsc;
  reason.tid = static_cast<std::uint32_t>(contents.occasionTid);
  if (process.faultSignal != 0) {
    reason.signal = process.faultSignal;
    reason.signalCode = process.faultCode;
    reason.tid = process.faultTid;
    reason.faultAddress = process.faultAddress;
    reason.faultPc = process.faultPc;
  }
  return reason;
}

// What on the stacks may be return addresses into copies.
void addCodeAddresses(const SnapContents& contents, std::vector<std::uint64_t>& addresses) {
  const auto& modules = contents.folder.modules;
  for (const MemoryPart& part : contents.memory.parts) {
    if ((part.flags & format::kMemoryStack) == 0) continue;
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= part.bytes.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word;
      std::memcpy(&word, part.bytes.data() + at, sizeof word);
      if (std::ranges::any_of(modules, [word](const format::ProcessModule& module) {
            return word >= module.start && word < module.end;
          }))
        addresses.push_back(word);
    }
  }
  std::ranges::sort(addresses);
  addresses.erase(std::ranges::unique(addresses).begin(), addresses.end());
}

model::Result<void> addMemory(SnapWriter& writer, const ProcessMemory& memory) {
  if (memory.parts.empty()) return {};
  std::vector<format::MemoryRange> ranges;
  for (const MemoryPart& part : memory.parts)
    ranges.push_back({.start = part.start, .size = part.bytes.size(), .flags = part.flags, .reserved = 0});
  auto result = writer.add(format::SectionType::MemoryRanges, 0, bytesOf(ranges.data(), ranges.size()));
  for (std::size_t i = 0; result && i < memory.parts.size(); ++i)
    result = writer.add(format::SectionType::Memory, static_cast<std::uint32_t>(i), memory.parts[i].bytes);
  return result;
}

// "key=value\n" lines; of the others' snaps, where their processes did not want to have them told, the names
// alone.
std::string describeGroup(const GroupEvent& event) {
  std::string text = std::format("group={}\nevent={:016x}\n",
                                 textField(event.about.group, sizeof event.about.group), event.about.id);
  if (event.about.cause != 0) text += std::format("cause={}\n", event.about.cause);
  if (event.about.leftOut != 0) text += std::format("left-out={}\n", event.about.leftOut);
  for (const format::ServiceMember& member : event.members)
    text += std::format("member={}\nprogram={}\nsnap={}\n", member.pid,
                        textField(member.program, sizeof member.program),
                        textField(member.snap, sizeof member.snap));
  return text;
}

std::vector<std::string> filesOf(const SnapContents& contents) {
  if (!contents.maps.empty()) return mappedFiles(contents.maps);
  std::vector<std::string> files;
  for (const format::ProcessModule& module : contents.folder.modules)
    files.push_back(textField(module.path, sizeof module.path));
  return files;
}

model::Result<Bytes> mapOf(const SnapContents& contents, const std::filesystem::path& file) {
  const auto rights = FileRights::of(contents.folder.owner);
  if (!rights) return std::unexpected(rights.error());
  auto map = readMapSection(file);
  // A process in a container or after chroot has its files elsewhere.
  if (!map && contents.livingProcess)
    if (auto other = readMapSection(std::format("/proc/{}/root{}", *contents.livingProcess, file.string())))
      map = other;
  return map;
}

std::string describeFilesOf(const SnapContents& contents) {
  const auto rights = FileRights::of(contents.folder.owner);
  if (!rights) return {};
  const std::vector<std::string> files = filesOf(contents);
  return describeFiles(files,
                       contents.livingProcess ? std::format("/proc/{}/root", *contents.livingProcess) : "");
}

// The maps of the modules, each under its module's index; and a line for each that is missing.
model::Result<void> addMaps(SnapWriter& writer, const SnapContents& contents,
                            const std::vector<SnapThread>& threads, std::string& notes) {
  std::vector<const Bytes*> rings;
  for (const RingFile& ring : contents.folder.rings) rings.push_back(&ring.bytes);
  const std::vector<std::uint32_t> codes = codesIn(rings);
  std::vector<std::uint64_t> addresses;
  for (const SnapThread& thread : threads)
    if ((thread.flags & format::kThreadHasRegisters) != 0)
      addresses.push_back(thread.registers[kProgramCounter]);
  addCodeAddresses(contents, addresses);

  for (std::size_t i = 0; i < contents.folder.modules.size(); ++i) {
    const format::ProcessModule& module = contents.folder.modules[i];
    if (module.bindState != static_cast<std::uint32_t>(format::BindState::Bound)) continue;
    const std::filesystem::path path = textField(module.path, sizeof module.path);
    const auto map = mapOf(contents, path);
    auto slice = map ? sliceMap(*map, module, {codes, addresses}, path)
                     : model::Result<Bytes>(std::unexpected(map.error()));
    if (!slice) {
      notes += std::format("missing-map={}\n", slice.error().text());
      continue;
    }
    if (auto added = writer.add(format::SectionType::MapSlice, static_cast<std::uint32_t>(i), *slice); !added)
      return added;
  }
  return {};
}

}  // namespace

format::SnapReason reasonOf(const format::ProcessHeader& header) {
  if (header.faultSignal == 0) return format::SnapReason::Recovered;
  return header.faultSignal == SIGABRT ? format::SnapReason::Abort : format::SnapReason::Fault;
}

SnapPlace snapPlaceFor(const std::filesystem::path& asked, const std::filesystem::path& rootsSnaps,
                       uid_t owner, const format::ProcessHeader& header) {
  const uid_t self = ::geteuid();
  if (!asked.empty()) return {asked, self};
  std::filesystem::path told = textField(header.snapFolder, sizeof header.snapFolder);
  if (self == 0 && owner == 0) told = rootsSnaps;
  return told.empty() ? SnapPlace{defaultSnapFolder(), self} : SnapPlace{told, owner};
}

std::filesystem::path snapFolderFor(const std::filesystem::path& asked,
                                    const std::filesystem::path& processFolder,
                                    const format::ProcessHeader& header) {
  struct stat status{};
  const bool known = ::lstat(processFolder.c_str(), &status) == 0;
  return snapPlaceFor(asked, rootsSnapsOf(processFolder), known ? status.st_uid : ::geteuid(), header).folder;
}

std::string snapBaseName(const std::string& program, std::uint32_t pid, std::uint64_t realtimeNs) {
  // A file's name has at most 255 bytes; behind this one come a number and an ending, and another while it is
  // written. No letter is cut in two.
  constexpr std::size_t kMostOfProgram = 160;
  std::size_t size = std::min(program.size(), kMostOfProgram);
  if (size < program.size())
    while (size != 0 && (static_cast<unsigned char>(program[size]) & 0xC0) == 0x80) --size;
  return std::format("{}-{}-{}", program.substr(0, size), pid, timeName(realtimeNs));
}

model::Result<std::filesystem::path> writeSnap(const SnapContents& contents,
                                               const std::filesystem::path& snapFolder) {
  const ProcessFolder& folder = contents.folder;
  auto writer = SnapWriter::create(
      snapFolder, snapBaseName(programName(folder), folder.header.pid,
                               contents.group ? contents.group->about.realtimeNs : contents.realtimeNs));
  if (!writer) return std::unexpected(writer.error());

  const std::uint32_t redaction = contents.redaction;
  const PathRedactor paths(redaction);
  const std::vector<SnapThread> threads = threadsOf(contents);
  const format::SnapReasonData reason = reasonData(contents);
  std::string host = describeHost(contents.livingProcess, (redaction & kRedactArguments) == 0);
  if (!contents.occasion.empty()) host += std::format("occasion={}\n", oneLine(contents.occasion));
  if (!contents.note.empty()) host += std::format("note={}\n", contents.note);
  if (redaction != 0) host += std::format("redacted={}\n", describeRedaction(redaction));
  if (contents.memory.leftOut != 0) host += std::format("memory-left-out={}\n", contents.memory.leftOut);
  using Type = format::SectionType;
  const format::ProcessHeader header = paths.header(folder.header);
  const std::vector<format::ProcessModule> modules = paths.modules(folder.modules);
  auto result = writer->add(Type::Process, 0, bytesOf(&header, 1));
  const auto add = [&](Type type, std::uint32_t index, std::span<const std::uint8_t> bytes) {
    if (result) result = writer->add(type, index, bytes);
  };
  add(Type::Modules, 0, bytesOf(modules.data(), modules.size()));
  if (const auto thrown = paths.thrown(folder.thrown); !thrown.empty())
    add(Type::ThrownTexts, 0, bytesOf(thrown.data(), thrown.size()));
  add(Type::Reason, 0, bytesOf(&reason, 1));
  add(Type::Threads, 0, bytesOf(threads.data(), threads.size()));
  for (std::size_t i = 0; i < folder.rings.size(); ++i)
    add(Type::Ring, static_cast<std::uint32_t>(i), folder.rings[i].bytes);
  if (result) result = addMaps(*writer, contents, threads, host);
  if (contents.group) add(Type::Group, 0, bytesOf(paths.lines(describeGroup(*contents.group))));
  if (!contents.maps.empty()) add(Type::Mappings, 0, bytesOf(paths.lines(contents.maps)));
  // Vector registers hold pieces of whatever text was copied last.
  for (std::size_t i = 0; i < contents.threads.size(); ++i)
    if (const Bytes& registers = contents.threads[i].extendedRegisters; !registers.empty() && redaction == 0)
      add(Type::ExtendedRegisters, static_cast<std::uint32_t>(i), registers);
  if (!contents.memory.auxiliaryVector.empty())
    add(Type::AuxiliaryVector, 0, contents.memory.auxiliaryVector);
  if (result) result = addMemory(*writer, contents.memory);
  add(Type::Host, 0, bytesOf(paths.text(host)));
  add(Type::ModuleFiles, 0, bytesOf(paths.lines(describeFilesOf(contents))));
  if (!result) return std::unexpected(result.error());
  return writer->finish();
}

}  // namespace traceback::collect
