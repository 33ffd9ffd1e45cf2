// Instrumenting a file when a process of a run asks for it.
#pragma once

#include "app/traceback/instrumented_cache.h"
#include "instrument/instrument.h"

namespace traceback::app {

// The cache for one build of this program with these options. Its limit is TRACEBACK_CACHE_SIZE (bytes, or
// with K, M or G) if that is set.
model::Result<InstrumentedCache> cacheFor(const std::filesystem::path& instrumentor,
                                          const instrument::Options& options);

std::uint64_t cacheLimit();

// The part of cacheFolder() in which copies are.
std::optional<std::filesystem::path> copiesFolder();

// What TRACEBACK_INSTRUMENT asks of the instrumentor.
model::Result<instrument::Options> optionsFromEnvironment();
// The same, and what goes without saying: the profiles that are kept (profile_files.h), unless it names some.
model::Result<instrument::Options> usualOptions();

// The copy of `file`, instrumented now if it is not there: in a child process, so that a failure of any
// kind is a reason and not an end, in which `traceback copy` is executed. Shows how far it is on a terminal.
model::Result<InstrumentedCache::Known> prepare(const InstrumentedCache& cache,
                                                const std::filesystem::path& file, InstrumentedCache::Use use,
                                                const instrument::Options& options);

// Makes anew what waits for it in that part of the cache (InstrumentedCache::outdate()); of what fails the
// copy that there is stays.
void renewOutdated(const InstrumentedCache& cache, const instrument::Options& options);

// The same for copies of that cache, which agree on their codes in that file (instrument/code_bases.h).
instrument::Options optionsOfCopies(instrument::Options options, const std::filesystem::path& codes);

// What `traceback copy` does: instruments `input`, and writes how that ended to `pipe`, for prepare().
void instrumentAndTell(int pipe, const std::filesystem::path& input, const std::filesystem::path& output,
                       const instrument::Options& options);

// "65536", "64K", "1M"; nothing if it is none.
std::optional<std::uint64_t> parseSize(std::string_view text);

}  // namespace traceback::app
