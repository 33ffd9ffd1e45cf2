#include "module_process.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "runtime/inject/kernel/files.h"
#include "runtime/inject/process/learning.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/thread.h"

namespace traceback::testing {

namespace {

std::vector<format::ProcessModule>& table() {
  static std::vector<format::ProcessModule> modules = [] {
    std::vector<format::ProcessModule> none;
    none.reserve(format::kMaxModules);
    return none;
  }();
  return modules;
}

}  // namespace

std::vector<format::ProcessModule> modules() { return table(); }
void forgetModules() {
  table().clear();
  inject::process.recording = false;
  inject::threadSlot = format::kThreadSlot;
}

namespace {
std::vector<bool> told;
}
std::vector<bool> toldOfTheProgram() { return std::exchange(told, {}); }

}  // namespace traceback::testing

// In wrap.S, where the runtime is injected: where probes jump to, which none does here.
extern "C" {
extern const std::uint64_t traceback_wrap_entries[16] = {};
extern const std::uint64_t traceback_wrap_kept_entries[16] = {};
}

namespace traceback::inject {

using traceback::testing::table;

constinit Process process;

format::ProcessModule* moduleTable() { return table().data(); }
unsigned moduleCount() { return static_cast<unsigned>(table().size()); }
bool appendModule(const format::ProcessModule& module) {
  if (table().size() == format::kMaxModules) return false;
  table().push_back(module);
  return true;
}
void replaceModule(unsigned index, const format::ProcessModule& module) {
  format::ProcessModule& entry = table()[index];
  entry.loadBias = module.loadBias;
  entry.start = module.start;
  entry.end = module.end;
  entry.unloaded = 0;
}
void markUnloaded(unsigned index) { table()[index].unloaded = 1; }

void mappedFile(std::uint64_t, std::uint64_t, char* to, std::size_t) { *to = 0; }
constinit std::int64_t threadSlot = format::kThreadSlot;
bool isThreadSlotInPlace(std::int64_t place) { return place >= -0x10000; }
void beginLearning(bool isProgramKnown) { testing::told.push_back(isProgramKnown); }

}  // namespace traceback::inject
