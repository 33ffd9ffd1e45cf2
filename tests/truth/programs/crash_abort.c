// Crashes: calls abort when its books do not balance.
#include <stdio.h>
#include <stdlib.h>

static long balance;

static void post(long amount) {
  balance += amount;
  if (balance < 0) {
    printf("overdrawn: %ld\n", balance);
    fflush(stdout);
    abort();
  }
}

int main(void) {
  static const long amounts[] = {100, -20, 35, -90, 10, -60, 500};
  for (unsigned i = 0; i < sizeof amounts / sizeof amounts[0]; ++i) post(amounts[i]);
  printf("balance: %ld\n", balance);
  return 0;
}
