// A byte-code interpreter that jumps through addresses of labels.
#include <stdio.h>

enum { Push, Add, Multiply, Less, JumpIf, Duplicate, Swap, Over, Drop, Halt };

static long run(const int* code) {
  static const void* const labels[] = {&&push,      &&add,  &&multiply, &&less, &&jumpIf,
                                       &&duplicate, &&swap, &&over,     &&drop, &&halt};
  long stack[16], t;
  int top = 0;
  const int* at = code;
#define NEXT goto* labels[*at++]
  NEXT;
push:
  stack[top++] = *at++;
  NEXT;
add:
  --top;
  stack[top - 1] += stack[top];
  NEXT;
multiply:
  --top;
  stack[top - 1] *= stack[top];
  NEXT;
less:
  --top;
  stack[top - 1] = stack[top - 1] < stack[top];
  NEXT;
jumpIf:
  if (stack[--top])
    at = code + *at;
  else
    ++at;
  NEXT;
duplicate:
  stack[top] = stack[top - 1];
  ++top;
  NEXT;
swap:
  t = stack[top - 1];
  stack[top - 1] = stack[top - 2];
  stack[top - 2] = t;
  NEXT;
over:
  stack[top] = stack[top - 2];
  ++top;
  NEXT;
drop:
  --top;
  NEXT;
halt:
  return stack[top - 1];
#undef NEXT
}

int main(void) {
  // total = 1; n = 1; do { total = total * 3 + n; ++n } while (n < 12)
  static const int program[] = {Push, 1, Push, 1,         Swap, Push, 3,    Multiply, Over, Add,  Swap,
                                Push, 1, Add,  Duplicate, Push, 12,   Less, JumpIf,   4,    Drop, Halt};
  for (int i = 0; i < 5; ++i) printf("%ld\n", run(program) + i);
  return 0;
}
