// The instrumented copies of programs that `run` has made, by content.
//
//   FOLDER/KEY/NAME      KEY: hash of the program's bytes, of this program's own and of the options;
//                        NAME: the program's, for processes are named for the file that they run
//
// Many may use it at once: an entry appears whole, by a rename, and is never changed. When the entries
// exceed the limit those that were not used for the longest time are removed. Removing one that runs is
// harmless, for a running program keeps its file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "model/error.h"

namespace traceback::app {

class InstrumentedCache {
 public:
  // Writes the instrumented form of the first file as the second.
  using Make = std::function<model::Result<void>(const std::filesystem::path& input,
                                                 const std::filesystem::path& output)>;

  static constexpr std::uint64_t kDefaultLimit = std::uint64_t{2} << 30;

  // `salt` tells apart what else decides the result: the instrumentor's identity, its options.
  InstrumentedCache(std::filesystem::path folder, std::uint64_t salt, std::uint64_t limit = kDefaultLimit);

  // The instrumented copy of `program`, made now if it is not there. The folder is made, private to the
  // user, if it is missing; one that belongs to somebody else is refused.
  model::Result<std::filesystem::path> get(const std::filesystem::path& program, const Make& make);

 private:
  model::Result<void> prepareFolder() const;
  void removeOld(const std::filesystem::path& keep) const;

  std::filesystem::path m_folder;
  std::uint64_t m_salt;
  std::uint64_t m_limit;
};

// The hash of a file's bytes, to tell builds of this program apart.
model::Result<std::uint64_t> hashOfFile(const std::filesystem::path& file);

}  // namespace traceback::app
