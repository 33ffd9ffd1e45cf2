// What a person waits for in a large snap: until the newest is there, until all is, and for each step.
// bench_steps SNAP [STEPS]
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <print>
#include <random>

#include "loader/load_trace.h"
#include "model/stepping.h"
#include "model/trace.h"

using namespace traceback;

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double peakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::println(stderr, "usage: bench_steps SNAP [STEPS]");
    return 2;
  }
  const std::size_t count = argc == 3 ? std::strtoul(argv[2], nullptr, 10) : 20'000;
  const auto start = Clock::now();
  double newest = -1, faulted = -1;
  loader::LoadOptions options;
  options.preview = [&](const std::shared_ptr<const model::Trace>& trace) {
    if (newest < 0) newest = since(start);
    if (trace->threads[0]->entryCount() > 0) faulted = since(start);  // the first thread's last preview
  };
  const auto trace = loader::loadTrace(argv[1], options);
  if (!trace) {
    std::println(stderr, "bench_steps: {}", trace.error().text());
    return 1;
  }
  const double all = since(start);

  // Steps of all kinds from random places of random threads, and ten on from there, as a person goes.
  std::mt19937_64 random(1);
  std::vector<double> times;
  std::uint64_t records = 0, entries = 0;
  std::vector<const model::ThreadTrace*> threads;
  for (const auto& thread : (*trace)->threads) {
    records += thread->info().recordCount;
    entries += thread->entryCount();
    if (thread->entryCount() > 1000) threads.push_back(thread.get());
  }
  while (!threads.empty() && times.size() < count) {
    const auto& thread = *threads[random() % threads.size()];
    auto at = model::EntryIndex{random() % thread.entryCount()};
    for (int i = 0; i < 10; ++i) {
      const auto how = static_cast<model::Step>(random() % 6);
      const auto before = Clock::now();
      const auto to = model::step(thread, at, how);
      times.push_back(since(before) * 1000);
      if (!to) break;
      at = *to;
    }
  }
  std::ranges::sort(times);
  const auto quantile = [&](double share) {
    return times.empty()
               ? 0
               : times[std::min(times.size() - 1,
                                static_cast<std::size_t>(share * static_cast<double>(times.size())))];
  };
  std::println(R"({{"records":{},"entries":{},"newest_seconds":{:.3f},"first_thread_seconds":{:.3f},)"
               R"("all_seconds":{:.3f},"step_median_ms":{:.3f},"step_p99_ms":{:.3f},"step_most_ms":{:.3f},)"
               R"("peak_mb":{:.0f}}})",
               records, entries, newest, faulted, all, quantile(0.5), quantile(0.99), quantile(1.0),
               peakMegabytes());
  return 0;
}
