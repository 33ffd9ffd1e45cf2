#include "app/traceback/instrumented_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <format>
#include <fstream>
#include <vector>

#include "app/traceback/origin_links.h"
#include "loader/mapped_file.h"
#include "runtime/collect/files/system_file.h"
#include "runtime/format/cache.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

using Clock = fs::file_time_type::clock;
constexpr auto kAbandonedAfter = std::chrono::hours(24);
constexpr char kHasCopy = '+', kStays = '-', kStaysForNow = '!';
constexpr char kRenewal[] = "renewal";

// A machine that loses power must not leave a file that has its name but not its bytes.
bool writtenOut(const fs::path& file) {
  const collect::SystemFile opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  return opened.isOpen() && fsync(opened.descriptor()) == 0;
}

std::string oneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

// Whole or not at all.
bool writeEntry(const fs::path& entry, const fs::path& making, const std::string& line) {
  const fs::path temporary = making / std::format("{}.{}", entry.filename().string(), getpid());
  {
    std::ofstream out(temporary, std::ios::binary);
    out << line;
    if (!out.flush()) return false;
  }
  std::error_code error;
  fs::rename(temporary, entry, error);
  return !error;
}

model::Result<void> makePrivateFolder(const fs::path& folder) {
  // The mode once more, for the user's mask may take too much.
  if (mkdir(folder.c_str(), 0700) == 0)
    chmod(folder.c_str(), 0700);
  else if (errno != EEXIST)
    return model::fail(std::format("cannot make this folder: {}", std::strerror(errno)), folder.string());
  struct stat status{};
  if (lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return model::fail("not a folder", folder.string());
  // Programs are run from here: nobody else may put one in.
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return model::fail("belongs to, or can be written by, somebody else", folder.string());
  return {};
}

// Held while a file's copy is being made.
class MakingLock {
 public:
  explicit MakingLock(const fs::path& path)
      : m_path(path), m_file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (m_file.isOpen()) flock(m_file.descriptor(), LOCK_EX);
  }
  ~MakingLock() { unlink(m_path.c_str()); }
  MakingLock(const MakingLock&) = delete;
  MakingLock& operator=(const MakingLock&) = delete;

 private:
  fs::path m_path;
  collect::SystemFile m_file;
};

// Empty if there is no such entry.
std::string lineIn(const fs::path& entry) {
  std::ifstream in(entry, std::ios::binary);
  std::string line;
  std::getline(in, line, '\0');
  return line;
}

// Of the file whose copy that entry has; empty if it has none.
fs::path originalIn(const fs::path& entry) {
  const std::string line = lineIn(entry);
  const auto keyEnd = line.find('/');
  if (!line.starts_with(kHasCopy) || keyEnd == std::string::npos) return {};
  return line.substr(keyEnd);
}

// Of the index of all parts.
std::vector<fs::path> entriesOf(const fs::path& root, const InstrumentedCache::IsMeant& isMeant) {
  std::vector<fs::path> entries;
  std::error_code none;
  for (const auto& part : fs::directory_iterator(root, none)) {
    std::error_code gone;  // others remove too
    for (const auto& item : fs::directory_iterator(part.path() / "index", gone))
      if (const fs::path original = originalIn(item.path()); !original.empty() && isMeant(original))
        entries.push_back(item.path());
  }
  return entries;
}

void forgetEntry(const fs::path& entry) {
  std::error_code ignored;
  fs::remove(entry, ignored);
}

std::string programFlavour(std::uint64_t flavour) { return std::format("{:016x}", flavour); }

}  // namespace

struct InstrumentedCache::Object {
  Clock::time_point used;
  std::uint64_t size = 0;
  fs::path folder;
};

InstrumentedCache::InstrumentedCache(fs::path root, std::uint64_t flavour, std::uint64_t limit)
    : m_root(std::move(root)), m_folder(m_root / programFlavour(flavour)), m_limit(limit) {}

model::Result<InstrumentedCache> InstrumentedCache::at(const fs::path& folder, std::uint64_t limit) {
  const std::string name = folder.filename().string();
  if (name.size() != format::kFlavourDigits ||
      name.find_first_not_of("0123456789abcdef") != std::string::npos)
    return model::fail("not a part of the cache", folder.string());
  return InstrumentedCache(folder.parent_path(), std::stoull(name, nullptr, 16), limit);
}

InstrumentedCache InstrumentedCache::forThreadSlot(std::int32_t threadSlot) const {
  InstrumentedCache other = *this;
  other.m_threadSlot = threadSlot;
  return other;
}

std::optional<std::string> InstrumentedCache::indexNameOf(const fs::path& file, Use use) const {
  struct stat status{};
  if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  char name[format::kIndexNameSize];
  const bool program = use == Use::Execute;
  format::indexName(format::identityOf(status, program ? file.c_str() : nullptr, m_threadSlot), name);
  return name;
}

model::Result<void> InstrumentedCache::prepareFolders() const {
  std::error_code error;
  fs::create_directories(m_root.parent_path(), error);
  for (const fs::path& folder :
       {m_root, m_folder, m_folder / "objects", m_folder / "index", m_folder / "making"})
    if (auto made = makePrivateFolder(folder); !made) return made;
  struct statvfs status{};
  if (statvfs(m_folder.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0)
    return model::fail("nothing may be executed from here (mounted noexec): set XDG_CACHE_HOME",
                       m_folder.string());
  return {};
}

std::optional<InstrumentedCache::Known> InstrumentedCache::read(const fs::path& entry) const {
  const std::string line = lineIn(entry);
  if (line.empty()) return std::nullopt;
  const std::string rest = line.substr(1);
  std::error_code error;
  if (line[0] == kHasCopy) {
    fs::path copy = m_folder / "objects" / rest;
    if (!fs::is_regular_file(copy, error)) return std::nullopt;
    return Known{.copy = std::move(copy), .reason = {}};
  }
  if (line[0] == kStaysForNow) {
    const auto age = Clock::now() - fs::last_write_time(entry, error);
    if (error || age >= std::chrono::seconds(format::kRetrySeconds)) return std::nullopt;
  }
  return Known{.copy = {}, .reason = rest};
}

void InstrumentedCache::setUsedNow(const Known& known) {
  if (!known.copy.empty()) utimensat(AT_FDCWD, known.copy.c_str(), nullptr, 0);
}

std::optional<InstrumentedCache::Known> InstrumentedCache::lookUp(const fs::path& file, Use use) const {
  const auto name = indexNameOf(file, use);
  return name ? read(m_folder / "index" / *name) : std::nullopt;
}

model::Result<fs::path> InstrumentedCache::makeObject(const fs::path& file, const std::string& key,
                                                      const Make& make) const {
  fs::path path = fs::path(key) / file.relative_path();
  const fs::path object = m_folder / "objects" / path;
  std::error_code error;
  if (fs::is_regular_file(object, error)) {
    utimensat(AT_FDCWD, object.c_str(), nullptr, 0);
    return path;
  }
  const fs::path making = m_folder / "making" / std::format("{}.{}", key, getpid());
  auto outcome = make(file, making);
  if (outcome && !writtenOut(making)) outcome = model::fail(std::strerror(errno), making.string());
  // The folder may be removed as an old one in between: then once more.
  for (int attempt = 0; outcome && attempt < 2; ++attempt) {
    fs::create_directories(object.parent_path(), error);
    fs::rename(making, object, error);
    if (!error) break;
  }
  if (outcome && error) outcome = model::fail(error.message(), object.string());
  std::error_code ignored;
  fs::remove(making, ignored);
  if (!outcome) return std::unexpected(outcome.error());
  linkOriginFolders(file, m_folder / "objects" / key);
  removeOld(m_folder / "objects" / key);
  return path;
}

model::Result<InstrumentedCache::Known> InstrumentedCache::get(
    const fs::path& file, Use use, const Make& make, const std::function<std::uint64_t()>& variant) const {
  if (auto prepared = prepareFolders(); !prepared) return std::unexpected(prepared.error());
  const auto name = indexNameOf(file, use);
  if (!name) return model::fail("no such file", file.string());
  const fs::path entry = m_folder / "index" / *name;
  if (const auto known = read(entry)) return setUsedNow(*known), *known;
  const MakingLock lock(m_folder / "making" / (*name + ".lock"));
  if (const auto known = read(entry)) return setUsedNow(*known), *known;
  return makeEntry(file, use, *name, make, variant);
}

model::Result<InstrumentedCache::Known> InstrumentedCache::makeEntry(
    const fs::path& file, Use use, const std::string& name, const Make& make,
    const std::function<std::uint64_t()>& variant) const {
  const fs::path entry = m_folder / "index" / name;
  const auto stays = [&](char kind, const model::Error& error) {
    if (!read(entry)) writeEntry(entry, m_folder / "making", kind + oneLine(error.text()));
    return std::unexpected(error);
  };
  std::error_code error;
  const fs::path path = use == Use::Execute ? file : fs::canonical(file, error);
  const auto mapped = loader::MappedFile::open(path);
  // Who may execute a file may not always read it; and that may change.
  if (!mapped) return stays(kStaysForNow, mapped.error());
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(mapped->bytes().data(), mapped->bytes().size(), variant ? variant() : 0);
  const auto object = makeObject(path, std::format("{:016x}{:016x}", hash.high64, hash.low64), make);
  if (!object) return stays(object.error().file == path ? kStays : kStaysForNow, object.error());
  if (indexNameOf(file, use) != name) return model::fail("changed while it was read", path.string());
  if (!writeEntry(entry, m_folder / "making", kHasCopy + object->string()))
    return model::fail(std::format("cannot be written: {}", std::strerror(errno)), entry.string());
  return Known{.copy = m_folder / "objects" / *object, .reason = {}, .isNew = true};
}

model::Result<void> InstrumentedCache::prepareForRenewal() const {
  if (auto prepared = prepareFolders(); !prepared) return prepared;
  return makePrivateFolder(m_folder / kRenewal);
}

void InstrumentedCache::outdate(const fs::path& root, const IsMeant& isMeant) {
  for (const fs::path& entry : entriesOf(root, isMeant)) {
    const fs::path waiting = entry.parent_path().parent_path() / kRenewal;
    std::error_code none;
    if (fs::exists(waiting, none) && !std::ofstream(waiting / entry.filename())) forgetEntry(entry);
  }
}

void InstrumentedCache::forget(const fs::path& root, const IsMeant& isMeant) {
  for (const fs::path& entry : entriesOf(root, isMeant)) forgetEntry(entry);
}

std::vector<InstrumentedCache::Outdated> InstrumentedCache::outdated() const {
  std::vector<Outdated> found;
  std::error_code none;
  for (const auto& item : fs::directory_iterator(m_folder / kRenewal, none)) {
    const std::string name = item.path().filename();
    const auto kind = format::kindOfIndexName(name.c_str());
    const Outdated one{.file = originalIn(m_folder / "index" / name),
                       .use = kind.isProgram ? Use::Execute : Use::Load,
                       .threadSlot = kind.threadSlot};
    std::error_code ignored;
    if (forThreadSlot(one.threadSlot).indexNameOf(one.file, one.use) == name)
      found.push_back(one);
    else
      fs::remove(item.path(), ignored);  // another file by now, or forgotten
  }
  return found;
}

model::Result<InstrumentedCache::Known> InstrumentedCache::renew(
    const fs::path& file, Use use, const Make& make, const std::function<std::uint64_t()>& variant) const {
  if (auto prepared = prepareFolders(); !prepared) return std::unexpected(prepared.error());
  const auto name = indexNameOf(file, use);
  if (!name) return model::fail("no such file", file.string());
  auto known = [&] {
    const MakingLock lock(m_folder / "making" / (*name + ".lock"));
    return makeEntry(file, use, *name, make, variant);
  }();
  std::error_code ignored;
  fs::remove(m_folder / kRenewal / *name, ignored);
  return known;
}

std::vector<InstrumentedCache::LeftAlone> InstrumentedCache::leftAlone() const {
  std::vector<LeftAlone> found;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(m_folder / "index", error)) {
    const auto known = read(item.path());
    if (!known || !known->copy.empty()) continue;
    const auto end = known->reason.find(": ");
    found.push_back({.reason = end == std::string::npos ? known->reason : known->reason.substr(end + 2),
                     .file = known->reason.substr(0, end)});
  }
  std::ranges::sort(found, {}, [](const LeftAlone& one) { return std::tie(one.reason, one.file); });
  return found;
}

std::vector<InstrumentedCache::Object> InstrumentedCache::objects() const {
  std::vector<Object> found;
  std::error_code error;
  for (const auto& part : fs::directory_iterator(m_root, error)) {
    std::error_code gone;  // others remove too
    for (const auto& item : fs::directory_iterator(part.path() / "objects", gone)) {
      Object object{.used = Clock::time_point::min(), .folder = item.path()};
      for (fs::recursive_directory_iterator it(item.path(), gone), end; !gone && it != end;
           it.increment(gone)) {
        std::error_code ignored;
        if (it->is_symlink(ignored) || !it->is_regular_file(ignored)) continue;
        object.size += it->file_size(ignored);
        object.used = std::max(object.used, it->last_write_time(ignored));
      }
      found.push_back(std::move(object));
    }
  }
  return found;
}

std::uint64_t InstrumentedCache::size() const {
  std::uint64_t total = 0;
  for (const Object& object : objects()) total += object.size;
  return total;
}

void InstrumentedCache::removeOld(const fs::path& keep) const {
  std::error_code ignored;
  const auto now = Clock::now();
  for (const auto& item : fs::directory_iterator(m_folder / "making", ignored))
    if (now - item.last_write_time(ignored) > kAbandonedAfter) fs::remove(item.path(), ignored);
  // Of other builds of this program nothing is left in the end.
  for (const auto& part : fs::directory_iterator(m_root, ignored)) {
    if (part.path() == m_folder || !fs::is_empty(part.path() / "objects", ignored) || ignored) continue;
    if (now - fs::last_write_time(part.path() / "index", ignored) > kAbandonedAfter)
      fs::remove_all(part.path(), ignored);
  }
  std::vector<Object> all = objects();
  std::uint64_t total = 0;
  for (const Object& object : all) total += object.size;
  std::ranges::sort(all, {}, &Object::used);
  for (const Object& object : all) {
    if (total <= m_limit || now - object.used < std::chrono::seconds(format::kKeepSeconds)) break;
    if (object.folder == keep) continue;
    fs::remove_all(object.folder, ignored);
    total -= object.size;
  }
}

}  // namespace traceback::app
