// Says where its handler of SIGSYS is told that a system call was which a filter traps.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

__attribute__((noinline)) long call(long number) {
  long result = number;
  for (volatile int i = 0; i < 3; ++i) {
  }
  __asm__ volatile("syscall" : "+a"(result) : : "rcx", "r11", "memory");
  return result;
}
static long (*volatile caller)(long) = call;

static void tell(int number, siginfo_t* info, void* data) {
  (void)number;
  greg_t* registers = ((ucontext_t*)data)->uc_mcontext.gregs;
  printf("call at %ld, %ld\n", (long)((char*)info->si_call_addr - (char*)call),
         (long)(registers[REG_RIP] - (greg_t)call));
  registers[REG_RAX] = 17;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
  sigaction(SIGSYS, &action, NULL);
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgrp, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    return 2;
  printf("answer %ld\n", caller(SYS_getpgrp));
  return 0;
}
