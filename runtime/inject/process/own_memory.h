// Reading the process's own memory where it may not be there.
#pragma once

#include <sys/uio.h>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/process/process.h"

namespace traceback::inject {

// By the kernel. The bytes read, fewer than asked for where memory ends, or an error number. Not where the
// process has given up its system calls (process.sandboxed).
inline long readOwnMemory(std::uint64_t from, void* into, std::size_t size) {
  const struct iovec to{into, size};
  const struct iovec of{reinterpret_cast<void*>(from), size};
  return systemCall(__NR_process_vm_readv, rawPid(), asLong(&to), 1, asLong(&of), 1, 0);
}

}  // namespace traceback::inject
