// Errors by longjmp, as an interpreter does them: protected calls within protected calls.
#include <setjmp.h>
#include <stdio.h>

struct Handler {
  struct Handler* previous;
  jmp_buf target;
  volatile int status;
};
static struct Handler* handlers;

static void fail(int status) {
  if (handlers == NULL) return;
  handlers->status = status;
  longjmp(handlers->target, 1);
}

static int protectedCall(int (*function)(int), int argument) {
  struct Handler handler;
  handler.status = 0;
  handler.previous = handlers;
  handlers = &handler;
  volatile int result = 0;
  if (setjmp(handler.target) == 0) result = function(argument);
  handlers = handler.previous;
  return handler.status != 0 ? -handler.status : result;
}

static int worker(int n) {
  int total = 0;
  for (int i = 0; i < n; ++i) {
    total += i;
    if (total > 40) fail(total);
  }
  return total;
}

static int outer(int n) {
  int result = protectedCall(worker, n);
  if (result < 0 && n % 2 == 0) fail(-result + 1000);
  return result;
}

int main(void) {
  for (int n = 0; n < 24; ++n) printf("%d: %d\n", n, protectedCall(outer, n));
  fail(1);
  return 0;
}
