#include "runtime/collect/snap/redaction.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <format>
#include <sstream>
#include <unordered_map>

#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/snap/host.h"
#include "runtime/format/mappings.h"

namespace traceback::collect {

namespace {

constexpr char kMask = '*';
constexpr std::string_view kRedacted = "/redacted/";

bool isSystems(std::string_view path) {
  constexpr std::array<std::string_view, 8> kFolders = {"/usr/",  "/lib/", "/lib64/", "/bin/",
                                                        "/sbin/", "/dev/", "/proc/",  "/redacted/"};
  return std::ranges::any_of(kFolders, [path](std::string_view each) { return path.starts_with(each); });
}

// Zero bytes stay, so that a list of texts stays one.
void mask(std::span<std::uint8_t> bytes) {
  for (std::uint8_t& byte : bytes)
    if (byte != 0) byte = kMask;
}

void maskRange(std::uint64_t start, std::uint64_t end, std::vector<MemoryPart>& parts) {
  for (MemoryPart& part : parts) {
    const std::uint64_t from = std::max(start, part.start);
    const std::uint64_t to = std::min(end, part.start + part.bytes.size());
    if (from < to) mask(std::span(part.bytes).subspan(from - part.start, to - from));
  }
}

// Where the kernel put the arguments and the environment: fields 48 to 51 of /proc/PID/stat.
struct Places {
  std::uint64_t argumentStart = 0, argumentEnd = 0, environmentStart = 0, environmentEnd = 0;
};

Places placesOf(pid_t pid) {
  constexpr std::size_t kArguments = 48, kPlaces = 4;
  const auto fields = statFields(pid);
  if (fields.size() < kArguments - kFirstStatField + kPlaces) return {};
  std::array<std::uint64_t, kPlaces> places{};
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const std::string& text = fields[kArguments - kFirstStatField + i];
    if (std::from_chars(text.data(), text.data() + text.size(), places[i]).ec != std::errc()) return {};
  }
  return {places[0], places[1], places[2], places[3]};
}

std::vector<std::string> textsIn(const std::string& file) {
  const auto bytes = readWhole(file);
  std::vector<std::string> texts;
  if (!bytes) return texts;
  std::istringstream all(textOf(*bytes));
  for (std::string each; std::getline(all, each, '\0');) texts.push_back(each);
  return texts;
}

// Environment and arguments, as far as they are kept out.
std::vector<std::string> startedWith(pid_t pid, std::uint32_t redaction) {
  std::vector<std::string> texts;
  if ((redaction & kRedactEnvironment) != 0) {
    for (const std::string& entry : textsIn(std::format("/proc/{}/environ", pid))) {
      texts.push_back(entry);
      if (const auto equals = entry.find('='); equals != std::string::npos)
        texts.push_back(entry.substr(equals + 1));
    }
  }
  if ((redaction & kRedactArguments) != 0) {
    std::vector<std::string> arguments = textsIn(std::format("/proc/{}/cmdline", pid));
    if (!arguments.empty()) arguments.erase(arguments.begin());
    texts.insert(texts.end(), arguments.begin(), arguments.end());
  }
  return texts;
}

// The folders that lead to files of the process which are not the system's, and where it is.
std::vector<std::string> foldersOf(pid_t pid, const std::string& maps) {
  namespace fs = std::filesystem;
  std::vector<std::string> folders;
  const auto add = [&folders](fs::path folder) {
    for (; folder.string().size() >= kLeastCopy; folder = folder.parent_path())
      if (!isSystems(folder.string() + '/')) folders.push_back(folder.string());
  };
  for (const MappedPath& file : mappedPaths(maps)) add(fs::path(file.path).parent_path());
  std::error_code error;
  if (const auto here = fs::read_symlink(std::format("/proc/{}/cwd", pid), error); !error) add(here);
  std::ranges::sort(folders);
  folders.erase(std::ranges::unique(folders).begin(), folders.end());
  return folders;
}

// At the end of what was cut off there, as much of a text as there is room for.
void maskCutOff(const std::vector<std::string>& texts, std::span<std::uint8_t> message) {
  if (std::ranges::contains(message, 0)) return;
  std::size_t longest = 0;
  for (const std::string& text : texts) {
    if (text.size() < kLeastCopy) continue;
    for (std::size_t size = std::min(text.size() - 1, message.size()); size > longest; --size)
      if (std::memcmp(message.last(size).data(), text.data(), size) == 0) longest = size;
  }
  mask(message.last(longest));
}

void copyField(std::span<std::uint8_t> to, const std::string& text) {
  std::ranges::fill(to, std::uint8_t{0});
  std::copy_n(text.begin(), std::min(text.size(), to.size() - 1), to.begin());
}

}  // namespace

void maskCopies(const std::vector<std::string>& texts, std::vector<MemoryPart>& parts) {
  // By their first eight bytes: a bitmap for the many places that are none of them, then a table.
  const auto frontOf = [](const std::uint8_t* bytes) {
    std::uint64_t front;
    std::memcpy(&front, bytes, sizeof front);
    return front;
  };
  constexpr unsigned kBits = 16;
  const auto slotOf = [](std::uint64_t front) { return (front * 0x9E37'79B9'7F4A'7C15) >> (64 - kBits); };
  std::bitset<1U << kBits> possible;
  std::unordered_multimap<std::uint64_t, const std::string*> known;
  for (const std::string& text : texts) {
    if (text.size() < kLeastCopy) continue;
    const std::uint64_t front = frontOf(reinterpret_cast<const std::uint8_t*>(text.data()));
    possible.set(slotOf(front));
    known.emplace(front, &text);
  }
  if (known.empty()) return;
  for (MemoryPart& part : parts) {
    // What is masked is masked only when all was looked at: one text may begin within another.
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t at = 0; at + kLeastCopy <= part.bytes.size(); ++at) {
      const std::uint64_t front = frontOf(part.bytes.data() + at);
      if (!possible.test(slotOf(front))) continue;
      const auto [first, last] = known.equal_range(front);
      for (auto it = first; it != last; ++it) {
        const std::string& text = *it->second;
        if (text.size() <= part.bytes.size() - at &&
            std::memcmp(text.data(), part.bytes.data() + at, text.size()) == 0)
          found.emplace_back(at, text.size());
      }
    }
    for (const auto& [at, size] : found) mask(std::span(part.bytes).subspan(at, size));
  }
}

void redactMemory(pid_t pid, std::uint32_t redaction, const std::string& maps, ProcessMemory& memory) {
  const Places places = placesOf(pid);
  std::vector<std::string> texts = startedWith(pid, redaction);
  // A debugger finds the libraries by their names: what stands in the snap as a file's path is no secret.
  if ((redaction & kRedactPaths) == 0) {
    const std::vector<MappedPath> files = mappedPaths(maps);
    std::erase_if(texts, [&files](const std::string& text) {
      return text.starts_with('/') && std::ranges::any_of(files, [&text](const MappedPath& file) {
               return file.path.starts_with(text);
             });
    });
  } else {
    for (const std::string& folder : foldersOf(pid, maps)) texts.push_back(folder);
  }
  maskCopies(texts, memory.parts);

  if ((redaction & kRedactEnvironment) != 0)
    maskRange(places.environmentStart, places.environmentEnd, memory.parts);
  if ((redaction & kRedactArguments) != 0) {
    std::uint64_t first = 0;  // the name that the program was called by stays
    const auto whole = readWhole(std::format("/proc/{}/cmdline", pid));
    if (whole) first = static_cast<std::uint64_t>(std::ranges::find(*whole, 0) - whole->begin());
    maskRange(places.argumentStart + first, places.argumentEnd, memory.parts);
  }
}

void redactMessages(std::optional<pid_t> pid, std::uint32_t redaction, ProcessFolder& folder) {
  if ((redaction & (kRedactEnvironment | kRedactArguments)) == 0) return;
  const auto texts = pid ? startedWith(*pid, redaction) : std::vector<std::string>{};
  std::vector fields{&folder.header.abortMessage, &folder.header.thrownMessage};
  for (format::ThrownText& thrown : folder.thrown) fields.push_back(&thrown.text);
  for (auto* field : fields) {
    if (!pid) {
      std::ranges::fill(*field, std::uint8_t{0});
      continue;
    }
    std::vector<MemoryPart> whole(1);
    whole[0].bytes.assign(std::begin(*field), std::end(*field));
    maskCopies(texts, whole);
    std::ranges::copy(whole[0].bytes, std::begin(*field));
    maskCutOff(texts, std::span(*field).first(sizeof *field - 1));
  }
}

std::string PathRedactor::path(const std::string& path) const {
  if (!m_redacts || !path.starts_with('/') || isSystems(path)) return path;
  return std::string(kRedacted) + path.substr(path.rfind('/') + 1);
}

std::string PathRedactor::text(const std::string& text) const {
  if (!m_redacts) return text;
  constexpr std::string_view kBefore = " \t\n=:'\"(,";
  // Where a path ends at the latest; it may hold blanks, and colons that nothing follows which follows one.
  const auto endOf = [&text](std::size_t at) {
    for (; at < text.size(); ++at) {
      if (std::string_view("\n'\",)").contains(text[at])) break;
      if (text[at] == ':' &&
          (at + 1 == text.size() || std::string_view(" 0123456789").contains(text[at + 1])))
        break;
    }
    return at;
  };
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '/' || (at != 0 && !kBefore.contains(text[at - 1]))) {
      result += text[at++];
      continue;
    }
    const std::size_t latest = endOf(at);
    const std::size_t end = std::min(text.find(' ', text.rfind('/', latest - 1)), latest);
    result += path(text.substr(at, end - at));
    at = end;
  }
  return result;
}

std::string PathRedactor::lines(const std::string& lines) const {
  if (!m_redacts) return lines;
  std::string result;
  std::istringstream all(lines);
  for (std::string line; std::getline(all, line); result += '\n') {
    const std::size_t slash = std::min(line.find('/'), line.size());
    result += line.substr(0, slash) + path(line.substr(slash));
  }
  return result;
}

format::ProcessHeader PathRedactor::header(format::ProcessHeader header) const {
  for (auto* field : {&header.snapFolder, &header.executable})
    copyField(*field, path(textField(*field, sizeof *field)));
  for (auto* field : {&header.abortMessage, &header.thrownMessage})
    copyField(*field, text(textField(*field, sizeof *field)));
  return header;
}

std::vector<format::ProcessModule> PathRedactor::modules(std::vector<format::ProcessModule> modules) const {
  for (format::ProcessModule& module : modules)
    copyField(module.path, path(textField(module.path, sizeof module.path)));
  return modules;
}

std::vector<format::ThrownText> PathRedactor::thrown(std::vector<format::ThrownText> texts) const {
  for (format::ThrownText& each : texts) copyField(each.text, text(textField(each.text, sizeof each.text)));
  return texts;
}

std::string describeRedaction(std::uint32_t redaction) {
  std::string text;
  for (unsigned i = 0; i < std::size(kRedactionNames); ++i)
    if ((redaction >> i & 1) != 0) text += (text.empty() ? "" : ", ") + std::string(kRedactionNames[i]);
  return text;
}

}  // namespace traceback::collect
