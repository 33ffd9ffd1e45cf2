// How fast a snap becomes lines: opens it, then expands every entry of every thread.
#include <chrono>
#include <cstdio>
#include <print>

#include "loader/load_trace.h"
#include "model/trace.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::println(stderr, "usage: bench_load SNAP");
    return 2;
  }
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  const auto start = Clock::now();
  const auto trace = traceback::loader::loadTrace(argv[1]);
  if (!trace) {
    std::println(stderr, "bench_load: {}", trace.error().text());
    return 1;
  }
  const auto opened = Clock::now();
  constexpr std::size_t kBatch = 1 << 14;
  std::uint64_t lines = 0, records = 0;
  for (const auto& thread : (*trace)->threads) {
    records += thread->info().recordCount;
    for (traceback::model::EntryIndex at = 0; at < thread->entryCount(); at += kBatch) {
      for (const auto& entry :
           thread->entries(at, std::min<std::uint64_t>(kBatch, thread->entryCount() - at))) {
        if (entry.kind == traceback::model::EntryKind::Line) ++lines;
      }
    }
  }
  const auto expanded = Clock::now();
  std::println(R"({{"lines":{},"records":{},"open_seconds":{:.4f},"expand_seconds":{:.4f}}})", lines, records,
               seconds(opened - start), seconds(expanded - opened));
  return 0;
}
