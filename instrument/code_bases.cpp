#include "instrument/code_bases.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "instrument/rounding.h"
#include "runtime/format/record.h"

namespace traceback::instrument {

namespace fs = std::filesystem;
using model::Result;

namespace {

constexpr off_t kMostBytes = 16 << 20;

struct Taken {
  std::uint32_t base = 0, span = 0;
  std::string name;
};

class BasesFile {
 public:
  explicit BasesFile(fs::path path) : m_path(std::move(path)) {}
  BasesFile(const BasesFile&) = delete;
  BasesFile& operator=(const BasesFile&) = delete;
  ~BasesFile() {
    if (m_descriptor >= 0) ::close(m_descriptor);
  }

  // Waits until nobody else has it.
  Result<void> lock() {
    m_descriptor = ::open(m_path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (m_descriptor < 0) return error("cannot be opened");
    struct stat status{};
    if (::fstat(m_descriptor, &status) != 0) return error("cannot be looked at");
    if (!S_ISREG(status.st_mode)) return model::fail("is no regular file", m_path.string());
    while (::flock(m_descriptor, LOCK_EX) != 0)
      if (errno != EINTR) return error("cannot be locked");
    return {};
  }

  Result<std::string> read() {
    struct stat status{};
    if (::fstat(m_descriptor, &status) != 0) return error("cannot be looked at");
    if (status.st_size > kMostBytes)
      return model::fail("is too large for a list of modules", m_path.string());
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::pread(m_descriptor, text.data() + done, text.size() - done, off_t(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return error("cannot be read");
      done += std::size_t(n);
    }
    m_size = status.st_size;
    return text;
  }

  // All of it or nothing.
  Result<void> append(std::string_view line) {
    const ssize_t n = ::write(m_descriptor, line.data(), line.size());
    if (n == ssize_t(line.size())) return {};
    auto failed = error("cannot be written");
    if (n > 0 && ::ftruncate(m_descriptor, m_size) != 0)
      return error("cannot be brought back to what it was");
    return failed;
  }

 private:
  std::unexpected<model::Error> error(const char* what) const {
    return model::fail(std::format("{}: {}", what, std::strerror(errno)), m_path.string());
  }

  fs::path m_path;
  int m_descriptor = -1;
  off_t m_size = 0;
};

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\r");
  return from == std::string_view::npos ? std::string_view()
                                        : text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

// "0x400", at the front of the text, which then begins behind it.
std::optional<std::uint32_t> takeNumber(std::string_view& text) {
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
  if (error != std::errc() || end == text.data() + text.size() || *end != ' ') return std::nullopt;
  text = trimmed(text.substr(std::size_t(end - text.data())));
  return number;
}

std::optional<Taken> parseLine(std::string_view line) {
  const auto base = takeNumber(line);
  const auto span = base ? takeNumber(line) : std::nullopt;
  if (!span || line.empty() || *span == 0 || *base % format::kCodeUnit != 0 ||
      *span % format::kCodeUnit != 0 || *base < format::kFirstCode || *base > format::kEndCode ||
      *span > format::kEndCode - *base)
    return std::nullopt;
  return Taken{*base, *span, std::string(line)};
}

Result<std::vector<Taken>> parse(std::string_view text, const fs::path& file) {
  std::vector<Taken> all;
  std::unordered_map<std::string, std::size_t> places;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const bool whole = end < text.size();
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const auto taken = whole ? parseLine(line) : std::nullopt;
    if (!taken)
      return model::fail(std::format("line {} is not '0xBASE 0xSPAN NAME': mend or remove it", number),
                         file.string());
    const auto [place, isNew] = places.try_emplace(taken->name, all.size());
    if (isNew)
      all.push_back(*taken);
    else
      all[place->second] = *taken;
  }
  return all;
}

// What nobody has, ascending.
std::vector<CodeSpace> gapsBetween(std::vector<Taken> all, const CodeSpace& within) {
  std::ranges::sort(all, {}, &Taken::base);
  std::vector<CodeSpace> gaps;
  std::uint32_t from = within.first;
  for (const Taken& one : all) {
    const std::uint32_t to = std::min(one.base, within.end);
    if (from < to) gaps.push_back({.first = from, .end = to});
    from = std::max(from, one.base + one.span);
  }
  if (from < within.end) gaps.push_back({.first = from, .end = within.end});
  return gaps;
}

// The first free ones from `wish` on, and round again from the first code.
std::optional<std::uint32_t> freeCodes(const std::vector<Taken>& all, std::uint32_t span, std::uint32_t unit,
                                       std::uint32_t wish, const CodeSpace& within) {
  const std::vector<CodeSpace> gaps = gapsBetween(all, within);
  for (const std::uint32_t least : {wish, within.first})
    for (const CodeSpace& gap : gaps) {
      const std::uint32_t base = roundedUp(std::max(gap.first, least), unit);
      if (base <= gap.end && span <= gap.end - base) return base;
    }
  return std::nullopt;
}

}  // namespace

Result<std::uint32_t> takeCodes(const fs::path& file, const fs::path& name, std::uint32_t span,
                                std::uint32_t unit, std::uint32_t wish, const CodeSpace& within) {
  std::error_code ignored;
  const fs::path canonical = fs::weakly_canonical(name, ignored);
  const std::string listed = canonical.empty() ? name.string() : canonical.string();
  if (listed.contains('\n') || trimmed(listed) != listed)
    return model::fail("has a name that cannot be listed with its codes", name.string());
  BasesFile bases(file);
  if (auto locked = bases.lock(); !locked) return std::unexpected(locked.error());
  const auto text = bases.read();
  if (!text) return std::unexpected(text.error());
  auto all = parse(*text, file);
  if (!all) return std::unexpected(all.error());
  const auto former = std::ranges::find(*all, listed, &Taken::name);
  if (former != all->end()) {
    const std::uint32_t base = former->base;
    if (span <= former->span && base % unit == 0) return base;
    wish = roundedUp(base, unit);  // where it was, if there is room behind it
    all->erase(former);
  }
  const auto base = freeCodes(*all, span, unit, wish, within);
  if (!base)
    return model::fail("leaves no codes for another module: remove the lines of modules that are gone",
                       file.string());
  // A comment may lack its line end, and would take the line to itself.
  const std::string_view before = text->empty() || text->ends_with('\n') ? "" : "\n";
  if (auto added = bases.append(std::format("{}{:#x} {:#x} {}\n", before, *base, span, listed)); !added)
    return std::unexpected(added.error());
  return *base;
}

}  // namespace traceback::instrument
