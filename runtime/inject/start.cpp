// Where the library begins and ends.
#include <errno.h>

#include "runtime/format/cache.h"
#include "runtime/inject/kernel/files.h"
#include "runtime/inject/libc/libc.h"
#include "runtime/inject/libc/names.h"
#include "runtime/inject/modules/modules.h"
#include "runtime/inject/process/environment.h"
#include "runtime/inject/process/process.h"
#include "runtime/inject/rings/rings.h"
#include "runtime/inject/signals/actions.h"
#include "runtime/inject/signals/fault.h"
#include "runtime/inject/snaps/collector.h"
#include "runtime/inject/snaps/policy_file.h"
#include "runtime/inject/snaps/reports.h"
#include "runtime/inject/snaps/throws.h"
#include "runtime/inject/snaps/trigger.h"

extern "C" {
int on_exit(void (*)(int, void*), void*) noexcept;
int __cxa_at_quick_exit(void (*)(void*), void*) noexcept;
int __register_atfork(void (*)(), void (*)(), void (*)(), void*) noexcept;
}

namespace traceback::inject {

namespace {

void processEnds(void*) {
  if (!collectHandledFault()) removeProcessFolder();
}
void processExits(int status, void*) {
  letFaultEndProcess();
  if (collectHandledFault()) return;
  meetExit(status);
  removeProcessFolder();
}

void forked() { childStarted(true); }

// From the audit library: objects that dlopen() has mapped.
void objectsLoaded() {
  const int error = errno;
  bindNewModules();
  if (process.recording && !signalsWatched()) watchSignals();
  errno = error;
}

void listenToAudit() {
  auto* const bridge = reinterpret_cast<format::Bridge*>(process.environment.bridge);
  if (bridge != nullptr && bridge->magic == format::kBridgeMagic)
    __atomic_store_n(&bridge->objectsLoaded, &objectsLoaded, __ATOMIC_RELEASE);
}

// Runs before the constructors of every other object, libc's included (DF_1_INITFIRST), hence before any
// thread but the first. What it registers for the end is therefore called last.
[[gnu::constructor]] void start(int, char**, char** environment) {
  takeEnvironment(environment, process.environment);
  findLibc();
  if (process.environment.off) return;
  const int error = errno;
  findThrow();
  loadPolicy();
  if (process.environment.bufferSize == 0) process.environment.bufferSize = policy().bufferSize;
  if (process.environment.mostRings == 0) process.environment.mostRings = policy().mostRings;
  if (process.environment.mostBytes == 0) process.environment.mostBytes = policy().mostBytes;
  if (!process.environment.historySaid && policy().historySaid) {
    process.environment.historySize = policy().historySize;
    process.environment.historyCounts = policy().historyCounts;
    process.environment.historySaid = true;
  }
  if (!process.environment.keptMemorySaid && policy().memorySaid)
    process.environment.keptMemory = policy().memory;
  if (!policy().record) {
    process.environment.off = true;
    errno = error;
    return;
  }
  process.pid = rawPid();
  process.startedBy = static_cast<std::uint32_t>(systemCall(__NR_geteuid));
  process.start = processStart();
  // Each of these is needed for records that can be trusted. Without one, nothing is bound.
  const bool ready = process.start != 0 && pidInProc() == process.pid && makeForkGuard() &&
                     watchThreadEnds() && __register_atfork(nullptr, nullptr, forked, nullptr) == 0;
  if (ready) {
    rememberStandardError();
    findTidInDescriptor();
    on_exit(processExits, nullptr);
    __cxa_at_quick_exit(processEnds, nullptr);
    learnNames();
    bindNewModules();
    if (process.recording) watchSignals();
    watchSanitizers();
    listenToAudit();
  } else {
    process.environment.off = true;
  }
  errno = error;
}

}  // namespace

}  // namespace traceback::inject
