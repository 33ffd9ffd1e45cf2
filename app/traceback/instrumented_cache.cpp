#include "app/traceback/instrumented_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <format>
#include <string>
#include <vector>

#include "loader/mapped_file.h"

namespace traceback::app {

namespace fs = std::filesystem;

namespace {

constexpr char kTemporary[] = ".making-";
constexpr auto kAbandonedAfter = std::chrono::hours(24);

// A machine that loses power must not leave a file that has its name but not its bytes.
bool writtenOut(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool done = fsync(descriptor) == 0;
  close(descriptor);
  return done;
}

}  // namespace

InstrumentedCache::InstrumentedCache(fs::path folder, std::uint64_t salt, std::uint64_t limit)
    : m_folder(std::move(folder)), m_salt(salt), m_limit(limit) {}

model::Result<void> InstrumentedCache::prepareFolder() const {
  std::error_code error;
  fs::create_directories(m_folder.parent_path(), error);
  if (mkdir(m_folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return model::fail(std::format("cannot make this folder: {}", std::strerror(errno)), m_folder.string());
  }
  struct stat status{};
  if (lstat(m_folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return model::fail("not a folder", m_folder.string());
  }
  // Programs are run from here: nobody else may put one in.
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return model::fail("belongs to, or can be written by, somebody else", m_folder.string());
  }
  return {};
}

model::Result<fs::path> InstrumentedCache::get(const fs::path& program, const Make& make) {
  if (auto prepared = prepareFolder(); !prepared) return std::unexpected(prepared.error());
  const auto file = loader::MappedFile::open(program);
  if (!file) return std::unexpected(file.error());
  const XXH128_hash_t hash = XXH3_128bits_withSeed(file->bytes().data(), file->bytes().size(), m_salt);
  const fs::path entry = m_folder / std::format("{:016x}{:016x}", hash.high64, hash.low64);
  fs::path result = entry / program.filename();

  std::error_code error;
  if (fs::is_regular_file(result, error)) {
    utimensat(AT_FDCWD, entry.c_str(), nullptr, 0);  // used now
    return result;
  }

  std::string temporary = (m_folder / std::format("{}XXXXXX", kTemporary)).string();
  if (mkdtemp(temporary.data()) == nullptr) {
    return model::fail(std::format("cannot make a folder in it: {}", std::strerror(errno)),
                       m_folder.string());
  }
  const fs::path made = fs::path(temporary) / program.filename();
  auto outcome = make(program, made);
  if (outcome && !writtenOut(made)) outcome = model::fail(std::strerror(errno), made.string());
  if (outcome) {
    // The same content under another name has an entry already: the file joins it.
    fs::rename(temporary, entry, error);
    if (error) fs::rename(made, result, error);
    if (error) outcome = model::fail(error.message(), result.string());
  }
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
  if (!outcome) return std::unexpected(outcome.error());
  removeOld(entry);
  return result;
}

void InstrumentedCache::removeOld(const fs::path& keep) const {
  struct Entry {
    fs::file_time_type used;
    std::uint64_t size = 0;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(m_folder, error)) {
    std::error_code gone;  // others remove too
    Entry entry{.used = item.last_write_time(gone), .path = item.path()};
    if (gone) continue;
    if (entry.path.filename().string().starts_with(kTemporary)) {
      if (fs::file_time_type::clock::now() - entry.used > kAbandonedAfter) fs::remove_all(entry.path, gone);
      continue;
    }
    for (const auto& file : fs::directory_iterator(entry.path, gone)) {
      const auto size = file.file_size(gone);
      if (!gone) entry.size += size;
    }
    total += entry.size;
    entries.push_back(std::move(entry));
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (const auto& entry : entries) {
    if (total <= m_limit) break;
    if (entry.path == keep) continue;
    std::error_code ignored;
    fs::remove_all(entry.path, ignored);
    total -= entry.size;
  }
}

model::Result<std::uint64_t> hashOfFile(const fs::path& path) {
  const auto file = loader::MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  return XXH3_64bits(file->bytes().data(), file->bytes().size());
}

}  // namespace traceback::app
