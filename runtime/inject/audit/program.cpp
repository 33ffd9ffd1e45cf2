#include "runtime/inject/audit/program.h"

#include <elf.h>
#include <linux/prctl.h>
#include <sys/stat.h>

#include "runtime/inject/audit/copies.h"
#include "runtime/inject/audit/settings.h"

namespace traceback::inject::audit {

namespace {

constexpr std::size_t kNameSize = 16;  // of a process, with the zero

constinit char executable[4096];
constinit const char* original = nullptr;

bool readExecutable() {
  const long size =
      systemCall(__NR_readlink, asLong("/proc/self/exe"), asLong(executable), sizeof executable - 1);
  executable[failed(size) ? 0 : size] = 0;
  return executable[0] == '/';
}

// Another file may be there by now, or in another mount namespace.
bool pathIsStillTrue() {
  struct stat byPath{}, byProcess{};
  return !failed(systemCall(__NR_stat, asLong(executable), asLong(&byPath))) &&
         !failed(systemCall(__NR_stat, asLong("/proc/self/exe"), asLong(&byProcess))) &&
         byPath.st_dev == byProcess.st_dev && byPath.st_ino == byProcess.st_ino;
}

std::uint64_t* auxiliaryValue(std::uint64_t type) {
  for (std::uint64_t* aux = settings.auxiliary; aux[0] != AT_NULL; aux += 2)
    if (aux[0] == type) return &aux[1];
  return nullptr;
}

// Executed in an original's place, under a file name that is not the one the program was called by: the
// process's name and AT_EXECFN are put right.
void restoreNames() {
  if (settings.execution == nullptr) return;
  char name[kNameSize] = {};
  const char* at = settings.execution;
  for (unsigned i = 0; *at != 0 && *at != '/' && i + 1 < kNameSize; ++i) name[i] = *at++;
  if (*at != '/') return;
  if (name[0] != 0) systemCall(__NR_prctl, PR_SET_NAME, asLong(name));
  if (std::uint64_t* value = auxiliaryValue(AT_EXECFN)) *value = reinterpret_cast<std::uint64_t>(at + 1);
}

// The program's arguments and environment as they are, with the names for restoreNames() added.
void execute(const char* copy) {
  static constinit LongPath execution;
  char name[kNameSize] = {};
  systemCall(__NR_prctl, PR_GET_NAME, asLong(name));
  const std::uint64_t* execfn = auxiliaryValue(AT_EXECFN);
  execution.add("TRACEBACK_EXEC=")
      .add(name)
      .add("/")
      .add(execfn == nullptr ? executable : reinterpret_cast<const char*>(*execfn));
  if (!execution.good()) return;
  std::size_t count = 0;
  while (settings.environment[count] != nullptr) ++count;
  auto** environment = static_cast<const char**>(__builtin_alloca((count + 2) * sizeof(char*)));
  std::size_t used = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (valueOf(settings.environment[i], "TRACEBACK_EXEC") == nullptr)
      environment[used++] = settings.environment[i];
  environment[used++] = execution.c_str();
  environment[used] = nullptr;
  systemCall(__NR_execve, asLong(copy), asLong(settings.arguments), asLong(environment));
  // Out of memory, or the cache is mounted noexec: the original goes on.
}

}  // namespace

const char* originalProgram() { return original; }

void considerProgram() {
  if (!readExecutable()) return;
  original = originalOf(executable);
  if (original != nullptr) return restoreNames();
  if (strcmp(executable, settings.collector) == 0 || !isWanted(executable) || !pathIsStillTrue()) return;
  static constinit LongPath copy;
  if (findCopy(executable, true, copy)) execute(copy.c_str());
}

}  // namespace traceback::inject::audit
