#include "runtime/inject/libc/libc.h"

#include <dlfcn.h>
#include <errno.h>

#include "runtime/inject/kernel/system.h"
#include "runtime/inject/libc/waits.h"

extern "C" {
[[gnu::weak]] void __asan_init();  // null but under AddressSanitizer

extern void* traceback_real_dlopen;
extern void* traceback_real_dlmopen;
extern void* traceback_real_dlsym;
extern void* traceback_real_abort;
extern void* traceback_real___assert_fail;
extern void* traceback_real___assert_perror_fail;
extern void* traceback_real___sigsetjmp;
extern void* traceback_real_setjmp;
extern void* traceback_real_longjmp;
extern void* traceback_real__longjmp;
extern void* traceback_real_siglongjmp;
extern void* traceback_real___longjmp_chk;
extern void* traceback_real_prctl;
extern void* traceback_real_syscall;
extern void* traceback_real_setuid;
extern void* traceback_real_seteuid;
extern void* traceback_real_setreuid;
extern void* traceback_real_setresuid;
extern void* traceback_real_capset;
extern void* traceback_real_chroot;
extern void* traceback_real_unshare;
extern void* traceback_real_setns;
}

namespace traceback::inject {

constinit Libc libc{};

namespace {

constinit bool found = false;

// Of libdl in its day; not the one of that name that is ours.
template <typename Function>
Function* linkersOwn(const char* name) {
  void* address = dlvsym(RTLD_NEXT, name, "GLIBC_2.34");
  if (address == nullptr) address = dlvsym(RTLD_NEXT, name, "GLIBC_2.2.5");
  return reinterpret_cast<Function*>(address);
}

bool areOfOneFile(const void* one, const void* other) {
  static constinit int (*find)(const void*, Dl_info*) = nullptr;
  if (find == nullptr) find = linkersOwn<int(const void*, Dl_info*)>("dladdr");
  Dl_info first{}, second{};
  return find == nullptr || find(one, &first) == 0 || find(other, &second) == 0 ||
         first.dli_fbase == second.dli_fbase;
}

// By dlvsym, for dlsym is ours. Versions as x86-64 has them: the second of a pair is from before 2.34.
void* lookUp(const char* name, const char* version, const char* older) {
  void* address = nextFunction(name, version);
  if (address == nullptr && older != nullptr) address = dlvsym(RTLD_NEXT, name, older);
  return address;
}

template <typename Function>
void lookUpInto(Function*& to, const char* name, const char* version, const char* older = nullptr) {
  to = reinterpret_cast<Function*>(lookUp(name, version, older));
}

}  // namespace

namespace {

// Of glibc 2. (To ask for a name that came with it would fail before that, and what the linker says of it is
// put together by the program's malloc, which may not be ready.)
bool isSince(unsigned minor) {
  const auto version =
      reinterpret_cast<const char* (*)()>(dlvsym(RTLD_NEXT, "gnu_get_libc_version", "GLIBC_2.2.5"));
  const char* at = version != nullptr ? version() : "";
  if (at[0] != '2' || at[1] != '.') return false;
  unsigned number = 0;
  for (at += 2; *at >= '0' && *at <= '9'; ++at) number = 10 * number + static_cast<unsigned>(*at - '0');
  return number >= minor;
}

}  // namespace

void* findOfAnyVersion(void* handle, const char* name) {
  static constinit void* (*find)(void*, const char*) = nullptr;
  if (find == nullptr) find = linkersOwn<void*(void*, const char*)>("dlsym");
  return find != nullptr ? find(handle, name) : nullptr;
}

void* nextFunction(const char* name, const char* version) {
  void* const next = findOfAnyVersion(RTLD_NEXT, name);
  if (__asan_init != nullptr && next != nullptr) return next;
  void* const versions = dlvsym(RTLD_NEXT, name, version);
  if (next == nullptr || versions == nullptr || next == versions || areOfOneFile(next, versions))
    return versions;
  return next;  // of a library that stands in front of libc for this, without a version
}

int iterateObjects(int (*visit)(dl_phdr_info*, std::size_t, void*), void* data) {
  using Iterate = int(int (*)(dl_phdr_info*, std::size_t, void*), void*);
  static constinit Iterate* own = nullptr;
  if (own == nullptr) own = reinterpret_cast<Iterate*>(dlvsym(RTLD_NEXT, "dl_iterate_phdr", "GLIBC_2.2.5"));
  return own != nullptr ? own(visit, data) : 0;
}

void setErrno(int error) { errno = error; }

void findLibc() {
  if (__atomic_load_n(&found, __ATOMIC_ACQUIRE)) return;
  const int before = errno;
  // Not a sanitizer's, which may first have to start, and comes back to us for that.
  libc.sigaction = reinterpret_cast<decltype(libc.sigaction)>(dlvsym(RTLD_NEXT, "sigaction", "GLIBC_2.2.5"));
  lookUpInto(libc.sigprocmask, "sigprocmask", "GLIBC_2.2.5");
  lookUpInto(libc.pthreadSigmask, "pthread_sigmask", "GLIBC_2.32", "GLIBC_2.2.5");
  lookUpInto(libc.signalfd, "signalfd", "GLIBC_2.7");
  lookUpInto(libc.dlclose, "dlclose", "GLIBC_2.34", "GLIBC_2.2.5");
  lookUpInto(libc.underscoreFork, "_Fork", "GLIBC_2.34");
  lookUpInto(libc.fork, "fork", "GLIBC_2.2.5");
  lookUpInto(libc.clone, "clone", "GLIBC_2.2.5");
  lookUpInto(libc.execve, "execve", "GLIBC_2.2.5");
  lookUpInto(libc.execv, "execv", "GLIBC_2.2.5");
  lookUpInto(libc.execvp, "execvp", "GLIBC_2.2.5");
  lookUpInto(libc.execvpe, "execvpe", "GLIBC_2.11");
  lookUpInto(libc.fexecve, "fexecve", "GLIBC_2.2.5");
  lookUpInto(libc.execveat, "execveat", "GLIBC_2.34");
  lookUpInto(libc.posixSpawn, "posix_spawn", "GLIBC_2.15");
  lookUpInto(libc.posixSpawnp, "posix_spawnp", "GLIBC_2.15");
  lookUpInto(libc.pthreadCreate, "pthread_create", "GLIBC_2.34", "GLIBC_2.2.5");
  lookUpInto(libc.system, "system", "GLIBC_2.2.5");
  lookUpInto(libc.popen, "popen", "GLIBC_2.2.5");
  lookUpInto(libc.readlink, "readlink", "GLIBC_2.2.5");
  lookUpInto(libc.readlinkChecked, "__readlink_chk", "GLIBC_2.4");
  lookUpInto(libc.readlinkat, "readlinkat", "GLIBC_2.4");
  lookUpInto(libc.readlinkatChecked, "__readlinkat_chk", "GLIBC_2.5");
  lookUpInto(libc.realpath, "realpath", "GLIBC_2.3");
  lookUpInto(libc.realpathChecked, "__realpath_chk", "GLIBC_2.4");
  lookUpInto(libc.canonicalizeFileName, "canonicalize_file_name", "GLIBC_2.2.5");
  lookUpInto(libc.open, "open", "GLIBC_2.2.5");
  lookUpInto(libc.open64, "open64", "GLIBC_2.2.5");
  lookUpInto(libc.openat, "openat", "GLIBC_2.4");
  lookUpInto(libc.openat64, "openat64", "GLIBC_2.4");
  lookUpInto(libc.openChecked, "__open_2", "GLIBC_2.7");
  lookUpInto(libc.open64Checked, "__open64_2", "GLIBC_2.7");
  lookUpInto(libc.openatChecked, "__openat_2", "GLIBC_2.7");
  lookUpInto(libc.openat64Checked, "__openat64_2", "GLIBC_2.7");
  lookUpInto(libc.fopen, "fopen", "GLIBC_2.2.5");
  lookUpInto(libc.fopen64, "fopen64", "GLIBC_2.2.5");
  lookUpInto(libc.dlinfo, "dlinfo", "GLIBC_2.34", "GLIBC_2.3.3");
  lookUpInto(libc.backtrace, "backtrace", "GLIBC_2.2.5");
  lookUpInto(libc.dladdr, "dladdr", "GLIBC_2.34", "GLIBC_2.2.5");
  lookUpInto(libc.dladdr1, "dladdr1", "GLIBC_2.34", "GLIBC_2.3.3");
  traceback_real_prctl = lookUp("prctl", "GLIBC_2.2.5", nullptr);
  traceback_real_syscall = lookUp("syscall", "GLIBC_2.2.5", nullptr);
  traceback_real_setuid = lookUp("setuid", "GLIBC_2.2.5", nullptr);
  traceback_real_seteuid = lookUp("seteuid", "GLIBC_2.2.5", nullptr);
  traceback_real_setreuid = lookUp("setreuid", "GLIBC_2.2.5", nullptr);
  traceback_real_setresuid = lookUp("setresuid", "GLIBC_2.2.5", nullptr);
  traceback_real_capset = lookUp("capset", "GLIBC_2.2.5", nullptr);
  traceback_real_chroot = lookUp("chroot", "GLIBC_2.2.5", nullptr);
  traceback_real_unshare = lookUp("unshare", "GLIBC_2.4", nullptr);
  traceback_real_setns = lookUp("setns", "GLIBC_2.14", nullptr);
  traceback_real_dlopen = lookUp("dlopen", "GLIBC_2.34", "GLIBC_2.2.5");
  traceback_real_dlmopen = lookUp("dlmopen", "GLIBC_2.34", "GLIBC_2.3.4");
  traceback_real_dlsym = lookUp("dlsym", "GLIBC_2.34", "GLIBC_2.2.5");
  if (isSince(35)) lookUpInto(libc.findObject, "_dl_find_object", "GLIBC_2.35");
  libc.isSince241 = isSince(41);
  libc.abortMessage = static_cast<const char* const*>(dlvsym(RTLD_NEXT, "__abort_msg", "GLIBC_PRIVATE"));
  traceback_real_abort = lookUp("abort", "GLIBC_2.2.5", nullptr);
  traceback_real___assert_fail = lookUp("__assert_fail", "GLIBC_2.2.5", nullptr);
  traceback_real___assert_perror_fail = lookUp("__assert_perror_fail", "GLIBC_2.2.5", nullptr);
  traceback_real___sigsetjmp = lookUp("__sigsetjmp", "GLIBC_2.2.5", nullptr);
  traceback_real_setjmp = lookUp("setjmp", "GLIBC_2.2.5", nullptr);
  traceback_real_longjmp = lookUp("longjmp", "GLIBC_2.2.5", nullptr);
  traceback_real__longjmp = lookUp("_longjmp", "GLIBC_2.2.5", nullptr);
  traceback_real_siglongjmp = lookUp("siglongjmp", "GLIBC_2.2.5", nullptr);
  traceback_real___longjmp_chk = lookUp("__longjmp_chk", "GLIBC_2.11", nullptr);
  findWaits(lookUp);
  errno = before;
  __atomic_store_n(&found, true, __ATOMIC_RELEASE);
}

}  // namespace traceback::inject
