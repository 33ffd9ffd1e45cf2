// A program that breaks down in the place that its first argument names, with traced code before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module.h"

static volatile uint64_t counter;
static const char* place = "";

static int is(const char* name) { return !strcmp(place, name); }

static void storeTo(void* address) { store(address); }
static void breakDown(void) { call(storeTo, NULL); }

// An allocator with a lock, which is held at the fault.
static char heap[16 << 20];
static size_t used;
static pthread_mutex_t heapLock = PTHREAD_MUTEX_INITIALIZER;
static volatile int breaksInMalloc;

void* malloc(size_t size) {
  pthread_mutex_lock(&heapLock);
  if (breaksInMalloc) breakDown();
  void* result = NULL;
  size = (size + 31) & ~(size_t)15;
  if (size <= sizeof heap - used) {
    result = heap + used + 16;
    memcpy(heap + used, &size, sizeof size);
    used += size;
  }
  pthread_mutex_unlock(&heapLock);
  return result;
}
void free(void* memory) { (void)memory; }
void* calloc(size_t count, size_t size) { return malloc(count * size); }  // never used twice: it is zero
void* realloc(void* memory, size_t size) {
  void* result = malloc(size);
  if (memory && result) {
    size_t before;
    memcpy(&before, (char*)memory - 16, sizeof before);
    memcpy(result, memory, before - 16 < size ? before - 16 : size);
  }
  return result;
}

__attribute__((constructor)) static void constructor(int argc, char** argv) {
  if (argc > 1) place = argv[1];
  count(&counter, 5);
  if (is("constructor")) breakDown();
}

static void inHandler(int signal) {
  traced_handler(signal);
  breakDown();
}
static void inExit(void) { breakDown(); }
static pthread_key_t key;
static void inDestructor(void* value) {
  (void)value;
  breakDown();
}
static void* setKey(void* unused) {
  count(&counter, 3);
  pthread_setspecific(key, &key);
  return unused;
}

static void beforeFork(void) {
  count(&counter, 1);
  if (is("fork-prepare")) breakDown();
}
static void inParent(void) {
  if (is("fork-parent")) breakDown();
}
static void inChild(void) {
  count(&counter, 1);
  if (is("fork-child")) breakDown();
}

static void* deeper(void* unused) {
  recurse();
  return unused;
}

// Returns to nowhere, or to a word of the stack, with the stack's contents gone.
__attribute__((noinline, optimize("no-omit-frame-pointer", "no-stack-protector"))) static void smash(void) {
  volatile char* frame = __builtin_frame_address(0);
  for (int i = 0; i < 512; ++i) frame[i] = 0x41;
}

static pthread_barrier_t barrier;
static void* together(void* unused) {
  count(&counter, 20);
  pthread_barrier_wait(&barrier);
  breakDown();
  return unused;
}

static void* waits(void* unused) {
  count(&counter, 20);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return unused;
}

static void* runs(void* unused) {
  volatile uint64_t own = 0;
  for (;;) count(&own, 1000);
  return unused;
}

// Signals that mean a fault, but are sent: some come while the runtime is at work in the other thread.
static volatile int stops;
static void* sends(void* to) {
  for (int i = 0; i < 3000; ++i) {
    pthread_kill((pthread_t)to, SIGSEGV);
    for (volatile int pause = 0; pause < 2000; ++pause) continue;
  }
  stops = 1;
  return to;
}

// Calls `act` with every mapping whose file's name has this in it.
static void eachMapping(const char* name, void (*act)(const char* line, unsigned char* start, size_t size)) {
  static char text[1 << 18];
  const int file = open("/proc/self/maps", O_RDONLY);
  size_t size = 0;
  for (ssize_t got; (got = read(file, text + size, sizeof text - 1 - size)) > 0;) size += (size_t)got;
  close(file);
  for (char* line = text; *line;) {
    char* end = strchr(line, '\n');
    *end = 0;
    if (strstr(line, name)) {
      char* next;
      const unsigned long from = strtoul(line, &next, 16), to = strtoul(next + 1, NULL, 16);
      act(line, (unsigned char*)from, to - from);
    }
    line = end + 1;
  }
}

static void takeAway(const char* line, unsigned char* start, size_t size) {
  (void)line;
  munmap(start, size);
}

static struct Own {
  unsigned char* start;
  size_t size;
} own[256];
static unsigned ownCount;

// In the place of all rings but the first thread's, who goes on.
static void putOwn(const char* line, unsigned char* start, size_t size) {
  char first[32];
  snprintf(first, sizeof first, "/%d-0.ring", (int)getpid());
  if (strstr(line, first)) return;
  mmap(start, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  memset(start, 0x5A, size);
  own[ownCount++] = (struct Own){start, size};
}
static unsigned long changedOwn(void) {
  unsigned long changed = 0;
  for (unsigned i = 0; i < ownCount; ++i)
    for (size_t k = 0; k < own[i].size; ++k) changed += own[i].start[k] != 0x5A;
  return changed;
}

// One after the other.
static void runThreads(int count) {
  pthread_t thread;
  for (int i = 0; i < count; ++i) {
    pthread_create(&thread, NULL, setKey, NULL);
    pthread_join(thread, NULL);
  }
}

static void limit(int what, rlim_t most) {
  const struct rlimit value = {most, most};
  if (setrlimit(what, &value)) exit(9);
}

int main(int argc, char** argv) {
  (void)argc;
  count(&counter, 100);
  pthread_t thread, all[8];
  if (is("handler")) {
    signal(SIGUSR1, inHandler);
    raise(SIGUSR1);
  }
  if (is("nested-handler")) {
    signal(SIGSEGV, inHandler);
    breakDown();
  }
  if (is("malloc")) {
    breaksInMalloc = 1;
    void* volatile memory = malloc(10);
    (void)memory;
  }
  if (is("dlopen")) dlopen(argv[2], RTLD_NOW);
  if (is("exit")) {
    atexit(inExit);
    exit(0);
  }
  if (is("destructor")) {
    pthread_key_create(&key, inDestructor);
    runThreads(1);
  }
  if (!strncmp(place, "fork-", 5)) {
    pthread_atfork(beforeFork, inParent, inChild);
    const pid_t child = fork();
    int status = 0;
    if (child == 0) _exit(3);
    waitpid(child, &status, 0);
    printf("%d\n", status);
    return 7;
  }
  if (is("vfork")) {
    const pid_t child = vfork();
    if (child == 0) {
      breakDown();
      _exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%d\n", status);
    count(&counter, 10);
    kill(getpid(), SIGABRT);
  }
  if (is("stack")) recurse();
  if (is("thread-stack")) {
    pthread_create(&thread, NULL, deeper, NULL);
    pthread_join(thread, NULL);
  }
  if (is("smashed")) smash();
  if (is("wild-stack")) __asm__ volatile("movq $0x10, %rsp\n\tpushq $1");
  if (is("wild-jump")) __asm__ volatile("movq $0x1234567, %rax\n\tjmp *%rax");
  if (is("small-signal-stack")) {
    const size_t size = getauxval(AT_MINSIGSTKSZ) + 2048;
    char* memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, 4096, PROT_NONE);
    sigaltstack(&(stack_t){.ss_sp = memory + 4096, .ss_size = size}, NULL);
    breakDown();
  }
  if (is("unmapped") || is("unmapped-goes-on")) {
    eachMapping(".ring", takeAway);
    count(&counter, 200000);
    runThreads(1);
    printf("%lu %lu\n", (unsigned long)counter, (unsigned long)handled);
    fflush(stdout);
    if (is("unmapped")) breakDown();
    return 7;
  }
  if (is("unmapped-ended")) {
    runThreads(80);
    eachMapping(".ring", putOwn);
    runThreads(80);
    printf("%lu %lu\n", (unsigned long)counter, changedOwn());
    return 7;
  }
  if (is("process-unmapped")) {
    eachMapping("/process", takeAway);
    count(&counter, 100000);
    runThreads(1);
    printf("%lu\n", (unsigned long)counter);
    fflush(stdout);
    breakDown();
  }
  if (is("unmapped-abort")) {
    eachMapping(".ring", takeAway);
    abort();
  }
  if (is("unmapped-elsewhere") || is("unmapped-waiting")) {
    signal(SIGUSR1, traced_handler);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, waits, NULL);
    pthread_barrier_wait(&barrier);
    eachMapping(".ring", takeAway);
    if (is("unmapped-waiting")) pthread_kill(thread, SIGUSR1);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    printf("%lu %lu\n", (unsigned long)counter, (unsigned long)handled);
    return 7;
  }
  if (is("sent-within")) {
    signal(SIGSEGV, traced_handler);
    pthread_create(&thread, NULL, sends, (void*)pthread_self());
    while (!stops) count(&counter, 20000);
    pthread_join(thread, NULL);
    counter = 0;
    printf("%d\n", handled > 0);
    return 7;
  }
  if (is("blocked") || is("blocked-abort")) {
    sigset_t every;
    sigfillset(&every);
    sigprocmask(SIG_SETMASK, &every, NULL);
    if (is("blocked-abort")) abort();
    breakDown();
  }
  if (is("disk")) {
    limit(RLIMIT_FSIZE, 0);
    signal(SIGXFSZ, SIG_IGN);
    breakDown();
  }
  if (is("descriptors")) {
    limit(RLIMIT_NOFILE, 64);
    while (dup(1) >= 0) continue;
    runThreads(1);
    breakDown();
  }
  if (is("memory")) {
    limit(RLIMIT_AS, 1 << 20);
    if (!pthread_create(&thread, NULL, setKey, NULL)) return 9;
    breakDown();
  }
  if (is("processes")) {
    if (setuid(65534)) return 9;
    limit(RLIMIT_NPROC, 0);
    breakDown();
  }
  if (is("runners")) {
    for (int i = 0; i < 4; ++i) pthread_create(&all[i], NULL, runs, NULL);
    usleep(100000);
    breakDown();
  }
  if (is("eight")) {
    pthread_barrier_init(&barrier, NULL, 8);
    for (int i = 0; i < 8; ++i) pthread_create(&all[i], NULL, together, NULL);
    for (int i = 0; i < 8; ++i) pthread_join(all[i], NULL);
  }
  if (is("descriptor-files")) {
    for (int i = 0; i < 64; ++i) close(i);
    breakDown();
  }
  return 99;
}
