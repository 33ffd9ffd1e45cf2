// The instrumented copies that `run` has made (runtime/format/cache.h), in the part for one instrumentor
// with one set of options.
//
// Many processes may use it at once. When the copies exceed the limit those that were not used for the
// longest time are removed; removing one that runs is harmless, for a process keeps its files.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/error.h"
#include "runtime/format/ring.h"

namespace traceback::app {

class InstrumentedCache {
 public:
  // Writes the instrumented form of the first file as the second. An error that names the first is told of
  // that content for good; any other may pass.
  using Make = std::function<model::Result<void>(const std::filesystem::path& input,
                                                 const std::filesystem::path& output)>;

  static constexpr std::uint64_t kDefaultLimit = std::uint64_t{4} << 30;

  enum class Use { Load, Execute };

  struct Known {
    std::filesystem::path copy;  // empty if the file stays as it is
    std::string reason;          // why it does
    bool isNew = false;          // it was made just now
  };

  // `root` holds all parts, under one limit. `flavour` tells apart what decides the result beside the file.
  InstrumentedCache(std::filesystem::path root, std::uint64_t flavour, std::uint64_t limit = kDefaultLimit);
  // The part that lies in this folder, ROOT/FLAVOUR.
  static model::Result<InstrumentedCache> at(const std::filesystem::path& folder,
                                             std::uint64_t limit = kDefaultLimit);

  // The same, for processes in whose copies probes look there (threadSlotBeside() in runtime/format/ring.h).
  InstrumentedCache forThreadSlot(std::int32_t threadSlot) const;

  const std::filesystem::path& folder() const { return m_folder; }  // ROOT/FLAVOUR

  // The folders are made, private to the user, if they are missing; what belongs to somebody else is refused.
  model::Result<void> prepareFolders() const;

  // What is known of a file already. Changes nothing, so a copy does not count as used.
  std::optional<Known> lookUp(const std::filesystem::path& file, Use use) const;

  // The instrumented copy of `file`, made now if it is not there. While one process makes it, others wait.
  // `variant` is asked only then, and tells apart copies of equal files that are made by something else that
  // changes; one that is known already is taken whatever it was (see outdate()).
  model::Result<Known> get(const std::filesystem::path& file, Use use, const Make& make,
                           const std::function<std::uint64_t()>& variant = {}) const;

  // Copies in this part are made by what changes, and so will be outdate()d. Makes the other folders, too.
  model::Result<void> prepareForRenewal() const;

  // Copies that were made of such files are made anew: in all such parts by renew(), until which they are
  // taken as they are; or in all parts when they are next asked for. What runs keeps them.
  using IsMeant = std::function<bool(const std::filesystem::path& original)>;
  static void outdate(const std::filesystem::path& root, const IsMeant& isMeant);
  static void forget(const std::filesystem::path& root, const IsMeant& isMeant);

  // What waits for renew() in this part.
  struct Outdated {
    std::filesystem::path file;
    Use use;
    std::int32_t threadSlot;
  };
  std::vector<Outdated> outdated() const;
  // As get(), but makes the copy anew, for that thread slot's processes. If that fails, the one that there
  // is stays. Either way it waits no more.
  model::Result<Known> renew(const std::filesystem::path& file, Use use, const Make& make,
                             const std::function<std::uint64_t()>& variant = {}) const;

  // Files that stay as they are, with the reasons.
  struct LeftAlone {
    std::string reason, file;
  };
  std::vector<LeftAlone> leftAlone() const;
  // What all copies take on the disk.
  std::uint64_t size() const;

 private:
  struct Object;

  std::optional<std::string> indexNameOf(const std::filesystem::path& file, Use use) const;
  static void setUsedNow(const Known& known);
  std::optional<Known> read(const std::filesystem::path& entry) const;
  model::Result<Known> makeEntry(const std::filesystem::path& file, Use use, const std::string& name,
                                 const Make& make, const std::function<std::uint64_t()>& variant) const;
  model::Result<std::filesystem::path> makeObject(const std::filesystem::path& file, const std::string& key,
                                                  const Make& make) const;
  std::vector<Object> objects() const;
  void removeOld(const std::filesystem::path& keep) const;

  std::filesystem::path m_root, m_folder;
  std::uint64_t m_limit;
  std::int32_t m_threadSlot = format::kThreadSlot;
};

}  // namespace traceback::app
