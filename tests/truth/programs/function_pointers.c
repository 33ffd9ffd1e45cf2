// Calls through pointers: tables, structures, pointers passed along, and a little interpreter.
#include <stdio.h>

typedef int (*Operation)(int, int);
static int add(int a, int b) { return a + b; }
static int subtract(int a, int b) { return a - b; }
static int multiply(int a, int b) { return a * b; }
static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) {
  if (a < b) return a;
  return b;
}

static const Operation operations[] = {add, subtract, multiply, larger, smaller};

static int fold(Operation operation, const int* values, int count) {
  int result = values[0];
  for (int i = 1; i < count; ++i) result = operation(result, values[i]) % 10007;
  return result;
}

struct Machine {
  int stack[32], top;
  int (*step)(struct Machine*, char);
};

static int inText(struct Machine* machine, char c);
static int inNumber(struct Machine* machine, char c) {
  if (c >= '0' && c <= '9') {
    machine->stack[machine->top - 1] = machine->stack[machine->top - 1] * 10 + c - '0';
    return 1;
  }
  machine->step = inText;
  return machine->step(machine, c);
}
static int inText(struct Machine* machine, char c) {
  if (c >= '0' && c <= '9') {
    machine->stack[machine->top++] = 0;
    machine->step = inNumber;
    return machine->step(machine, c);
  }
  static const char names[] = "+-*><";
  for (int i = 0; names[i] != '\0'; ++i) {
    if (c == names[i] && machine->top >= 2) {
      --machine->top;
      machine->stack[machine->top - 1] =
          operations[i](machine->stack[machine->top - 1], machine->stack[machine->top]);
      return 1;
    }
  }
  return 0;
}

int main(void) {
  int values[20];
  for (int i = 0; i < 20; ++i) values[i] = (i * 131 + 7) % 53;
  for (unsigned i = 0; i < sizeof operations / sizeof operations[0]; ++i)
    printf("fold %u: %d\n", i, fold(operations[i], values, 20));
  struct Machine machine = {{0}, 0, inText};
  int used = 0;
  for (const char* text = "12 30 + 4 * 7 - 100 > 9 <"; *text != '\0'; ++text)
    used += machine.step(&machine, *text);
  printf("machine: %d after %d, %d on the stack\n", machine.stack[0], used, machine.top);
  return 0;
}
