// What one gets from GCC alone: -fsanitize-coverage=trace-pc, and a ring of addresses for each thread.
// Compiled without that option.
#include <stdint.h>

enum { kWords = 1 << 17 };  // 1 MiB, as a ring of ours

static __thread uintptr_t ring[kWords];
static __thread uintptr_t next;

void __sanitizer_cov_trace_pc(void) { ring[next++ % kWords] = (uintptr_t)__builtin_return_address(0); }
