#include "loader/values/read_values.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <format>

#include "loader/core/core_file.h"
#include "loader/core/core_notes.h"
#include "loader/values/missing_memory.h"
#include "loader/values/recorded_files.h"
#include "loader/values/value_reader.h"

namespace traceback::loader {

namespace {

// The core file as gdb gets it: without a name, so that it is gone however this ends.
class NamelessFile {
 public:
  NamelessFile() {
    std::error_code error;
    const auto folder = std::filesystem::temp_directory_path(error);
    if (!error) m_descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (m_descriptor < 0) m_descriptor = ::memfd_create("core", MFD_CLOEXEC);
  }
  ~NamelessFile() {
    if (m_descriptor >= 0) ::close(m_descriptor);
  }
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;

  bool write(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t done = ::write(m_descriptor, bytes.data(), bytes.size());
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    }
    return true;
  }
  // For other processes of this user.
  std::string path() const { return std::format("/proc/{}/fd/{}", ::getpid(), m_descriptor); }

 private:
  int m_descriptor = -1;
};

std::uint64_t numberIn(std::string_view text, int base = 10) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

std::string missing(const RecordedFile& file, std::string_view consequence) {
  return std::format("{} is not here, or not the one that ran: {}", file.path, consequence);
}

class ValuesOfProcess {
 public:
  ValuesOfProcess(const RecordedProcess& process, const ValuesRequest& request, std::stop_token stop)
      : m_process(process), m_request(request), m_stop(std::move(stop)) {}

  model::Result<model::Values> read() {
    if (const auto why = whyNoValues(m_process)) return model::fail(*why);
    m_files = recordedFiles(m_process);
    const auto program = std::ranges::find_if(m_files, &RecordedFile::isProgram);
    if (program == m_files.end()) return model::fail("the snap does not say which file the program is");
    if (!program->isHere) return model::fail(missing(*program, "values need it"));
    const NamelessFile core;
    const auto written = writeCore(m_process, [&](std::span<const std::byte> bytes) {
      return !m_stop.stop_requested() && core.write(bytes);
    });
    if (m_stop.stop_requested()) return model::fail("cancelled");
    if (!written) return model::fail("a core file of it " + written.error().message);
    auto gdb = GdbSession::start({.answer = m_request.mostTime, .all = m_request.mostTime, .stop = m_stop});
    if (!gdb) return std::unexpected(gdb.error());
    if (auto opened = gdb->ask("-file-exec-and-symbols " + miQuoted(program->path)); !opened)
      return model::fail("gdb cannot open " + program->path + ": " + opened.error().message);
    // It complains of what it misses, too; the threads tell whether it has the file.
    if (auto opened = gdb->ask("-target-select core " + core.path()); !opened && gdb->isLost())
      return model::fail("gdb cannot open the core file of the snap: " + opened.error().message);
    m_gdb = &*gdb;
    ValueReader reader(*gdb);
    auto done = readThreads(reader);
    m_gdb = nullptr;
    if (!done) return std::unexpected(done.error());
    if (missesMemory(m_values, m_process.mappings))
      noteOnce(
          "what gdb cannot access was not kept: `run --memory writable` keeps all that the program may "
          "write");
    return std::move(m_values);
  }

 private:
  // A lost gdb is an error; what else goes wrong is noted where it is missing.
  model::Result<void> readThreads(ValueReader& reader) {
    const auto listed = m_gdb->ask("-thread-info");
    if (!listed) return std::unexpected(listed.error());
    const auto* known = listed->find("threads");
    for (const auto& thread : coreThreads(m_process)) {
      if (m_request.tid && thread.tid != *m_request.tid) continue;
      model::ThreadValues values{.tid = thread.tid, .frames = {}, .more = false, .notes = {}};
      const auto id = known != nullptr ? gdbThread(*known, thread.tid) : std::nullopt;
      if (!thread.placeIsKnown) {
        values.notes.emplace_back("it stands in code whose map is missing");
      } else if (!id) {
        values.notes.emplace_back("gdb does not know it");
      } else if (auto done = readFrames(reader, *id, values); !done) {
        return done;
      }
      if (thread.inProbe)
        values.notes.emplace_back(
            "it was stopped where the recorder works: some registers may be the recorder's");
      m_values.threads.push_back(std::move(values));
    }
    if (!m_request.globals.empty())
      if (auto done = forgetOtherBuilds(); !done) return done;
    for (const auto& expression : m_request.globals) {
      auto value = reader.evaluate(expression);
      if (!value) return std::unexpected(value.error());
      m_values.globals.push_back(std::move(*value));
    }
    return {};
  }

  // "LWP 12", "Thread 0x7f... (LWP 12)"
  static std::optional<std::uint32_t> gdbThread(const MiValue& threads, std::uint32_t tid) {
    for (const auto& item : threads.items) {
      const auto target = item.value.textOf("target-id");
      const auto at = target.find("LWP ");
      if (at != std::string_view::npos && numberIn(target.substr(at + 4)) == tid)
        return static_cast<std::uint32_t>(numberIn(item.value.textOf("id")));
    }
    return std::nullopt;
  }

  // Another build of a library has its variables elsewhere: gdb is to know none of them. (The frames were
  // read with all of them, for unwinding goes by what is there.)
  model::Result<void> forgetOtherBuilds() {
    const auto listed = m_gdb->ask("-file-list-shared-libraries");
    const auto* libraries = listed ? listed->find("shared-libraries") : nullptr;
    if (libraries == nullptr) return {};
    std::vector<std::string> right;
    for (const auto& item : libraries->items) {
      const auto* ranges = item.value.find("ranges");
      const auto* file = ranges == nullptr || ranges->items.empty()
                             ? nullptr
                             : fileAt(numberIn(ranges->items[0].value.textOf("from"), 16));
      const std::string_view name = item.value.textOf("target-name");
      if (file == nullptr || file->isHere)
        right.emplace_back(name);
      else
        noteOnce(missing(*file, "its variables are not known"));
    }
    if (right.size() == libraries->items.size()) return {};
    auto done = m_gdb->ask("-interpreter-exec console nosharedlibrary");
    for (const std::string& name : right) {
      // Of a regular expression's characters, "." stands for any.
      std::string pattern = name;
      std::ranges::replace_if(
          pattern, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '/'; }, '.');
      if (done) done = m_gdb->ask("-interpreter-exec console \"sharedlibrary ^" + pattern + "$\"");
    }
    if (!done) return std::unexpected(done.error());
    return {};
  }

  const RecordedFile* fileAt(std::uint64_t address) const {
    const auto found = std::ranges::find_if(
        m_files, [address](const RecordedFile& file) { return address >= file.start && address < file.end; });
    return found == m_files.end() ? nullptr : &*found;
  }

  model::Result<void> readFrames(ValueReader& reader, std::uint32_t thread, model::ThreadValues& to) {
    const auto listed = m_gdb->ask(
        std::format("-stack-list-frames --thread {} 0 {}", thread, std::uint64_t{m_request.mostFrames} + 8));
    if (!listed) {
      if (m_gdb->isLost()) return std::unexpected(listed.error());
      to.notes.push_back("gdb: " + listed.error().message);
      return {};
    }
    const auto* stack = listed->find("stack");
    if (stack == nullptr) return {};
    std::string lastStackPointer;
    std::uint32_t hidden = 0;
    for (const auto& item : stack->items) {
      const MiValue& described = item.value;
      const auto number = static_cast<std::uint32_t>(numberIn(described.textOf("level")));
      model::FrameValues frame;
      frame.address = numberIn(described.textOf("addr"), 16);
      const auto* file = fileAt(frame.address);
      if (file != nullptr && file->isRecorder) {
        ++hidden;
        continue;
      }
      frame.level = number - hidden;
      if (frame.level == m_request.mostFrames) {
        to.more = true;
        break;
      }
      const bool isOther = file != nullptr && !file->isHere;
      if (!isOther) setPlace(frame, described);
      if (auto done = reader.readRegisters(thread, number, frame); !done) return done;
      markInlined(frame, lastStackPointer, to.frames);
      if (m_request.frame && frame.level != *m_request.frame) {
        frame.registers.clear();
      } else if (isOther) {
        noteOnce(missing(*file, "its frames have no names and values, and their callers may be wrong"));
      } else if (auto done = reader.readVariables(thread, number, frame); !done) {
        return done;
      }
      if (!m_request.withRegisters) frame.registers.clear();
      to.frames.push_back(std::move(frame));
    }
    if (hidden != 0) to.notes.push_back(std::format("{} frames of the recorder are not shown", hidden));
    if (m_request.frame) {
      const std::size_t all = to.frames.size();
      std::erase_if(to.frames, [this](const auto& frame) { return frame.level != *m_request.frame; });
      if (to.frames.empty())
        to.notes.push_back(
            to.more ? std::format("of its frames only the first {} are looked at", all)
                    : std::format("it has no frame {}: there are {}, counted from 0", *m_request.frame, all));
      to.more = false;
    }
    return {};
  }

  // As gdb tells it by the file that is here: of another build it is wrong.
  static void setPlace(model::FrameValues& frame, const MiValue& described) {
    frame.function = described.textOf("func");
    const auto fullName = described.textOf("fullname");
    frame.file = fullName.empty() ? described.textOf("file") : fullName;
    frame.line = static_cast<std::uint32_t>(numberIn(described.textOf("line")));
  }

  // An inlined frame is where its caller is, and on the same stack frame; a recursive one is not.
  static void markInlined(const model::FrameValues& frame, std::string& lastStackPointer,
                          std::vector<model::FrameValues>& before) {
    const auto found = std::ranges::find(frame.registers, "rsp", &model::Value::name);
    const std::string stackPointer = found == frame.registers.end() ? std::string{} : found->text;
    if (!before.empty() && !stackPointer.empty() && stackPointer == lastStackPointer &&
        before.back().address == frame.address)
      before.back().isInlined = true;
    lastStackPointer = stackPointer;
  }

  void noteOnce(std::string note) {
    if (!std::ranges::contains(m_values.notes, note)) m_values.notes.push_back(std::move(note));
  }

  const RecordedProcess& m_process;
  const ValuesRequest& m_request;
  std::stop_token m_stop;
  std::vector<RecordedFile> m_files;
  GdbSession* m_gdb = nullptr;
  model::Values m_values;
};

}  // namespace

std::optional<std::string> whyNoValues(const RecordedProcess& process) {
  if (process.hasStacks()) return std::nullopt;
  return "the snap has no memory of the program, and so no values: it was made with --memory none, when the "
         "process "
         "had "
         "gone, or where that could not be read";
}

model::Result<model::Values> readValues(const RecordedProcess& process, const ValuesRequest& request,
                                        std::stop_token stop) {
  return ValuesOfProcess(process, request, std::move(stop)).read();
}

}  // namespace traceback::loader
