// Waits in every way that the runtime stands in front of, with traced code between, and prints what came of
// each: the same with the runtime as without.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kinds.h"
#include "module.h"

static volatile uint64_t counter;
static const struct timespec kShort = {0, 2000000};

static void say(const char* what, long result) {
  printf("%s %ld %d\n", what, result, result == -1 ? errno : 0);
  errno = 77;
  count(&counter, 1);
}

static struct timespec soon(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += 5000000;
  if (time.tv_nsec >= 1000000000) time.tv_sec += 1, time.tv_nsec -= 1000000000;
  return time;
}

static void sayErrnoKept(void) { say("errno", errno); }

static void noOperation(int signal) { traced_handler(signal); }
static void alarmSoon(void) {
  const struct itimerval time = {{0, 0}, {0, 5000}};
  setitimer(ITIMER_REAL, &time, NULL);
}

// Each wait ends by time, by an event, or is interrupted.
static void runEvents(void) {
  int ends[2];
  if (pipe(ends)) exit(9);
  struct pollfd* volatile nowhere = (struct pollfd*)8;
  struct pollfd one = {ends[0], POLLIN, 0};
  say("poll now", poll(&one, 1, 0));
  say("poll time", poll(&one, 1, 2));
  sayErrnoKept();
  say("ppoll time", ppoll(&one, 1, &kShort, NULL));
  say("poll bad", poll(nowhere, 1, 5));
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  struct timeval time = {0, 3000};
  say("select time", select(ends[0] + 1, &set, NULL, NULL, &time));
  say("select left", time.tv_usec);
  FD_SET(ends[0], &set);
  say("pselect time", pselect(ends[0] + 1, &set, NULL, NULL, &kShort, NULL));
  const int many = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = 5}};
  epoll_ctl(many, EPOLL_CTL_ADD, ends[0], &event);
  say("epoll time", epoll_wait(many, &event, 1, 2));
  say("epoll_pwait time", epoll_pwait(many, &event, 1, 2, NULL));
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = noOperation}, NULL);
  alarmSoon();
  say("epoll interrupted", epoll_wait(many, &event, 1, -1));
  alarmSoon();
  say("poll interrupted", poll(&one, 1, -1));
  alarmSoon();
  say("select interrupted", select(0, NULL, NULL, NULL, NULL));
  if (write(ends[1], "x", 1) != 1) exit(9);
  say("poll event", poll(&one, 1, -1));
  say("poll events", one.revents);
  say("epoll event", epoll_wait(many, &event, 1, -1));
  say("epoll data", (long)event.data.u64);
  say("epoll bad", epoll_wait(-1, &event, 1, -1));
  const int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0),
            other = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "traceback-waits-%d", (int)getpid());
  say("bind", bind(listening, (struct sockaddr*)&address, sizeof address));
  say("listen", listen(listening, 4));
  say("connect", connect(other, (struct sockaddr*)&address, sizeof address));
  say("accept", accept(listening, NULL, NULL) > 0);
  say("accept bad", accept(ends[0], NULL, NULL));
  alarmSoon();
  say("accept interrupted", accept4(listening, NULL, NULL, SOCK_CLOEXEC));
}

static void runSleeps(void) {
  signal(SIGALRM, noOperation);
  say("nanosleep", nanosleep(&kShort, NULL));
  const struct timespec bad = {0, -1}, second = {1, 0};
  say("nanosleep bad", nanosleep(&bad, NULL));
  struct timespec left = {0, 0};
  alarmSoon();
  say("nanosleep interrupted", nanosleep(&second, &left));
  say("left", left.tv_nsec > 500000000);
  say("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &kShort, NULL));
  say("clock_nanosleep bad", clock_nanosleep(12345, 0, &kShort, NULL));
  alarmSoon();
  say("clock_nanosleep interrupted", clock_nanosleep(CLOCK_REALTIME, 0, &second, &left));
  say("usleep", usleep(2000));
  alarmSoon();
  say("sleep interrupted", sleep(3));
  alarmSoon();
  say("pause", pause());
  sigset_t none, alarms;
  sigemptyset(&none);
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  alarmSoon();
  say("sigsuspend", sigsuspend(&none));
  sigprocmask(SIG_BLOCK, &alarms, NULL);
  int number = 0;
  alarmSoon();
  say("sigwait", sigwait(&alarms, &number));
  say("number", number);
  siginfo_t info;
  alarmSoon();
  say("sigwaitinfo", sigwaitinfo(&alarms, &info));
  say("sigtimedwait", sigtimedwait(&alarms, &info, &kShort));
  say("sigtimedwait now", sigtimedwait(&alarms, &info, &(struct timespec){0, 0}));
  say("handled", (long)handled);
}

static void runChildren(void) {
  for (int i = 0; i < 5; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      nanosleep(&kShort, NULL);
      _exit(10 + i);
    }
    int status = 0;
    struct rusage usage;
    siginfo_t info;
    pid_t ended = 0;
    if (i == 0) ended = wait(&status);
    if (i == 1) {
      say("waitpid now", waitpid(child, &status, WNOHANG));
      ended = waitpid(child, &status, 0);
    }
    if (i == 2) ended = wait3(&status, 0, &usage);
    if (i == 3) ended = wait4(child, &status, 0, &usage);
    if (i == 4) {
      say("waitid", waitid(P_PID, (id_t)child, &info, WEXITED));
      ended = info.si_pid, status = info.si_status << 8;
    }
    say("child", ended == child);
    say("status", WEXITSTATUS(status));
  }
  say("wait none", wait(NULL));
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static volatile int turn;

static void* locker(void* unused) {
  (void)unused;
  count(&counter, 1);
  pthread_mutex_lock(&mutex);
  turn = 2;
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
  pthread_barrier_wait(&barrier);
  sem_wait(&semaphore);
  count(&counter, 1);
  return (void*)42;
}

static void runThreads(void) {
  sem_init(&semaphore, 0, 0);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t thread;
  pthread_mutex_lock(&mutex);
  pthread_rwlock_wrlock(&rwlock);
  say("create", pthread_create(&thread, NULL, locker, NULL));
  usleep(10000);
  while (turn != 2) say("cond_wait", pthread_cond_wait(&condition, &mutex));
  pthread_mutex_unlock(&mutex);
  usleep(10000);
  say("rwlock", pthread_rwlock_unlock(&rwlock));
  const int last = pthread_barrier_wait(&barrier);
  say("barrier", last == 0 || last == PTHREAD_BARRIER_SERIAL_THREAD);
  usleep(10000);
  struct timespec until = soon(CLOCK_REALTIME);
  say("timedjoin", pthread_timedjoin_np(thread, NULL, &until));
  say("post", sem_post(&semaphore));
  void* result = NULL;
  say("join", pthread_join(thread, &result));
  say("result", (long)result);
  say("join self", pthread_join(pthread_self(), NULL));
  pthread_mutex_lock(&mutex);
  until = soon(CLOCK_REALTIME);
  say("cond_timedwait", pthread_cond_timedwait(&condition, &mutex, &until));
  until = soon(CLOCK_MONOTONIC);
  say("cond_clockwait", pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until));
  until = soon(CLOCK_REALTIME);
  say("mutex_timedlock", pthread_mutex_timedlock(&mutex, &until));
  pthread_mutex_unlock(&mutex);
  until = soon(CLOCK_REALTIME);
  say("sem_timedwait", sem_timedwait(&semaphore, &until));
  sayErrnoKept();
  until = soon(CLOCK_MONOTONIC);
  say("sem_clockwait", sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until));
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutex_t other;
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&other, &kind);
  say("unlock unlocked", pthread_mutex_unlock(&other));
  say("lock", pthread_mutex_lock(&other));
  say("lock again", pthread_mutex_lock(&other));
  pthread_mutex_unlock(&other);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&other, &kind);
  say("recursive", pthread_mutex_lock(&other) | pthread_mutex_lock(&other) | pthread_mutex_lock(&other));
  say("unlock", pthread_mutex_unlock(&other) | pthread_mutex_unlock(&other) | pthread_mutex_unlock(&other));
  say("unlock too often", pthread_mutex_unlock(&other));
}

// A thread is cancelled in each call that is a cancellation point, and cleans up.
static int which;
static void cleanUp(void* text) {
  printf("cleaned up %s\n", (const char*)text);
  count(&counter, 1);
}
static void* waitForEver(void* text) {
  count(&counter, 1);
  pthread_cleanup_push(cleanUp, text);
  pthread_mutex_lock(&mutex);
  struct pollfd none = {-1, POLLIN, 0};
  const struct timespec day = {86400, 0};
  sigset_t nothing;
  sigemptyset(&nothing);
  switch (which) {
    case 0:
      poll(&none, 1, -1);
      break;
    case 1:
      select(0, NULL, NULL, NULL, NULL);
      break;
    case 2:
      nanosleep(&day, NULL);
      break;
    case 3:
      sleep(86400);
      break;
    case 4:
      pause();
      break;
    case 5:
      sem_wait(&semaphore);
      break;
    case 6:
      pthread_cond_wait(&condition, &mutex);
      break;
    case 7:
      sigsuspend(&nothing);
      break;
    case 8:
      epoll_wait(epoll_create1(EPOLL_CLOEXEC), &(struct epoll_event){0}, 1, -1);
      break;
    case 9:
      pthread_join(*(pthread_t*)&semaphore.__size[16], NULL);
      break;
  }
  pthread_cleanup_pop(0);
  return NULL;
}
static void* sleepLong(void* unused) {
  const struct timespec day = {86400, 0};
  nanosleep(&day, NULL);
  return unused;
}
static void runCancelling(void) {
  static const char* const names[] = {"poll",     "select",    "nanosleep",  "sleep",      "pause",
                                      "sem_wait", "cond_wait", "sigsuspend", "epoll_wait", "join"};
  for (which = 0; which < 10; ++which) {
    pthread_t thread, other;
    sem_init(&semaphore, 0, 0);
    pthread_mutex_init(&mutex, NULL);
    if (which == 9) {
      pthread_create(&other, NULL, sleepLong, NULL);
      memcpy(&semaphore.__size[16], &other, sizeof other);
    }
    pthread_create(&thread, NULL, waitForEver, (void*)names[which]);
    usleep(5000);
    const int cancelled = pthread_cancel(thread);
    void* result = NULL;
    say("join", pthread_join(thread, &result));
    say("cancel", cancelled);
    say("cancelled", result == PTHREAD_CANCELED);
    if (which == 6) say("owned again", pthread_mutex_trylock(&mutex));
    if (which == 9) say("cancel", pthread_cancel(other));
  }
}

int main(int argc, char** argv) {
  static const struct kind kinds[] = {{"events", runEvents},
                                      {"sleeps", runSleeps},
                                      {"children", runChildren},
                                      {"threads", runThreads},
                                      {"cancelling", runCancelling}};
  setvbuf(stdout, NULL, _IOLBF, 0);
  count(&counter, 1);
  RUN_KIND(kinds, argv[1]);
  if (argc > 2) kill(getpid(), SIGKILL);
  return 0;
}
