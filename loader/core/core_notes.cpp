#include "loader/core/core_notes.h"

#include <elf.h>
#include <signal.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "loader/core/original_addresses.h"

namespace traceback::loader {

using format::SectionType;

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::size_t kLegacyRegisters = 512;  // what FXSAVE writes, the start of an XSAVE area

class NoteWriter {
 public:
  void add(const char* name, std::uint32_t type, std::span<const std::byte> description) {
    const Elf64_Nhdr header{.n_namesz = static_cast<std::uint32_t>(std::strlen(name) + 1),
                            .n_descsz = static_cast<std::uint32_t>(description.size()),
                            .n_type = type};
    put(std::as_bytes(std::span(&header, 1)));
    put(std::as_bytes(std::span(name, header.n_namesz)));
    put(description);
  }
  template <typename T>
  void addObject(std::uint32_t type, const T& object) {
    add("CORE", type, std::as_bytes(std::span(&object, 1)));
  }
  std::vector<std::byte> take() { return std::move(m_bytes); }

 private:
  void put(std::span<const std::byte> bytes) {
    m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
    m_bytes.resize((m_bytes.size() + 3) / 4 * 4);
  }
  std::vector<std::byte> m_bytes;
};

void addThread(NoteWriter& notes, const RecordedProcess& process, const CoreThread& thread) {
  elf_prstatus status{};
  const auto& reason = process.contents.reason;
  const auto signal = thread.atFault && reason ? reason->signal : 0;
  status.pr_info.si_signo = static_cast<int>(signal);
  status.pr_cursig = static_cast<short>(signal);
  status.pr_pid = static_cast<pid_t>(thread.tid);
  static_assert(sizeof status.pr_reg == sizeof thread.recorded->registers);
  std::memcpy(&status.pr_reg, thread.recorded->registers, sizeof status.pr_reg);
  status.pr_reg[offsetof(user_regs_struct, rip) / 8] = thread.programCounter;
  status.pr_fpvalid = 1;
  notes.addObject(NT_PRSTATUS, status);
}

void addExtendedRegisters(NoteWriter& notes, const RecordedProcess& process, const CoreThread& thread) {
  const auto* section = process.snap.find(SectionType::ExtendedRegisters, thread.index);
  const auto bytes = section != nullptr ? process.snap.read(*section) : std::vector<std::byte>{};
  if (!bytes || bytes->size() < kLegacyRegisters) return;
  notes.add("CORE", NT_FPREGSET, std::span(*bytes).first(kLegacyRegisters));
  if (bytes->size() > kLegacyRegisters) notes.add("LINUX", NT_X86_XSTATE, *bytes);
}

std::string commandLine(const RecordedProcess& process) {
  const auto found = process.contents.host.find("command-line");
  return found != process.contents.host.end() ? found->second : std::string{};
}

void addProcess(NoteWriter& notes, const RecordedProcess& process) {
  elf_prpsinfo info{};
  info.pr_sname = 'R';
  std::string program;
  if (const auto& header = process.contents.process) {
    info.pr_pid = static_cast<pid_t>(header->pid);
    program = paddedString(header->executable);
  }
  program = program.substr(program.rfind('/') + 1);
  const std::string arguments = commandLine(process);
  std::memcpy(info.pr_fname, program.data(), std::min(program.size(), sizeof info.pr_fname - 1));
  std::memcpy(info.pr_psargs, arguments.data(), std::min(arguments.size(), sizeof info.pr_psargs - 1));
  notes.addObject(NT_PRPSINFO, info);
}

void addSignal(NoteWriter& notes, const RecordedProcess& process) {
  const auto& reason = process.contents.reason;
  if (!reason || reason->signal == 0) return;
  siginfo_t info{};
  info.si_signo = static_cast<int>(reason->signal);
  info.si_code = static_cast<int>(reason->signalCode);
  if (info.si_code > 0)
    info.si_addr = reinterpret_cast<void*>(reason->faultAddress);
  else if (process.contents.process)
    info.si_pid = static_cast<pid_t>(process.contents.process->pid);
  notes.addObject(NT_SIGINFO, info);
}

// The program headers lie elsewhere in an instrumented file: a debugger that compares them with the
// original's would take that for another program, and one that is not told where they are asks the original.
void addAuxiliaryVector(NoteWriter& notes, const RecordedProcess& process) {
  std::vector<Elf64_auxv_t> vector;
  for (const auto entry : PackedArray<Elf64_auxv_t>(process.auxiliaryVector))
    if (entry.a_type != AT_PHDR && entry.a_type != AT_PHENT && entry.a_type != AT_PHNUM)
      vector.push_back(entry);
  if (!vector.empty()) notes.add("CORE", NT_AUXV, std::as_bytes(std::span(vector)));
}

void addFiles(NoteWriter& notes, const std::vector<CoreFile>& files) {
  if (files.empty()) return;
  std::vector<std::uint64_t> numbers{files.size(), kPage};
  std::string names;
  for (const auto& file : files) {
    numbers.insert(numbers.end(), {file.start, file.end, file.offset / kPage});
    names.append(file.path.c_str(), file.path.size() + 1);
  }
  const auto table = std::as_bytes(std::span(numbers));
  std::vector<std::byte> bytes(table.begin(), table.end());
  const auto text = std::as_bytes(std::span(names));
  bytes.insert(bytes.end(), text.begin(), text.end());
  notes.add("CORE", NT_FILE, bytes);
}

}  // namespace

std::vector<CoreThread> coreThreads(const RecordedProcess& process) {
  const OriginalAddresses originals(*process.modules);
  std::vector<CoreThread> threads;
  const auto& recorded = process.contents.threads;
  for (std::uint32_t i = 0; i < recorded.size(); ++i) {
    if ((recorded[i].flags & format::kThreadHasRegisters) == 0 ||
        (recorded[i].flags & format::kThreadEnded) != 0)
      continue;
    const auto pc = recorded[i].registers[offsetof(user_regs_struct, rip) / 8];
    const auto place = originals.programCounter(pc);
    threads.push_back({.tid = recorded[i].tid,
                       .name = std::string(paddedString(recorded[i].name)),
                       .atFault = (recorded[i].flags & format::kThreadAtFault) != 0,
                       .programCounter = place.address,
                       .placeIsKnown = place.isKnown,
                       .inProbe = place.inProbe,
                       .recorded = &recorded[i],
                       .index = i});
  }
  std::ranges::stable_sort(threads, [](const CoreThread& a, const CoreThread& b) {
    return a.atFault != b.atFault ? a.atFault : a.tid < b.tid;
  });
  return threads;
}

std::vector<CoreFile> coreFiles(const RecordedProcess& process) {
  const OriginalAddresses originals(*process.modules);
  std::vector<CoreFile> files;
  for (std::size_t i = 0; i < process.mappings.size(); ++i) {
    if (!format::isAsInFile(process.mappings, i)) continue;
    const auto& mapping = process.mappings[i];
    CoreFile file{.start = mapping.start, .end = mapping.end, .offset = mapping.offset, .path = mapping.path};
    if (originals.isAdded(mapping.start).value_or(false)) continue;
    if (const auto module = process.modules->moduleAt(model::RuntimeAddr{mapping.start}))
      file.path = process.shown[*module].path;
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<std::byte> coreNotes(const RecordedProcess& process, const std::vector<CoreThread>& threads) {
  NoteWriter notes;
  for (std::size_t i = 0; i < threads.size(); ++i) {
    addThread(notes, process, threads[i]);
    if (i == 0) {
      addProcess(notes, process);
      addSignal(notes, process);
      addAuxiliaryVector(notes, process);
      addFiles(notes, coreFiles(process));
    }
    addExtendedRegisters(notes, process, threads[i]);
  }
  return notes.take();
}

}  // namespace traceback::loader
