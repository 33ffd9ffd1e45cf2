/* What a program may tell TraceBack, from C and C++. Include it as <traceback/traceback.h>.
 *
 * Nothing needs to be linked: without the recorder the functions do nothing and answer
 * TRACEBACK_NOT_RECORDED. They may be called in any thread, and in signal handlers (but not there in code
 * that is compiled for a fixed address, -fno-pie, which has to look for the recorder by dlsym). errno stays
 * as it was. traceback_snap(3) is the manual. */
#ifndef TRACEBACK_TRACEBACK_H
#define TRACEBACK_TRACEBACK_H

#if !defined(__PIC__)
#include <dlfcn.h>
#endif

enum {
  TRACEBACK_NOT_RECORDED = -1, /* no recorder, nothing recorded yet, or the snap could not be written */
  TRACEBACK_SNAPPED = 0,
  TRACEBACK_SUPPRESSED = 1 /* the policy does not want it: by default the second one from the same place */
};

#ifdef __cplusplus
extern "C" {
#endif

/* The recorder's own entry; the function below is what to call. */
extern int traceback_take_snap(const char* reason) __attribute__((weak));

/* Snaps the process, which waits for that and goes on. `reason` is shown with the snap; it may be null. */
static inline __attribute__((always_inline)) int traceback_snap(const char* reason) {
#if defined(__PIC__)
  return traceback_take_snap ? traceback_take_snap(reason) : (int)TRACEBACK_NOT_RECORDED;
#else
  /* The linker has long made a null pointer of what it could not find. */
  void* const found = dlsym((void*)0, "traceback_take_snap");
  int (*snap)(const char*);
  __builtin_memcpy(&snap, &found, sizeof snap);
  return found ? snap(reason) : (int)TRACEBACK_NOT_RECORDED;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
