// Walks a list whose last link leads nowhere.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
  struct node* next;
  int value;
};

// Nothing of it may be worked out beforehand.
__attribute__((noipa)) static int sum(const struct node* node, int count) {
  int total = 0;
  while (count-- > 0) {
    total += node->value;  // the fault
    node = node->next;
  }
  return total;
}

static void* wait_for_ever(void* unused) {
  for (;;) pause();
  return unused;
}

int main(int argc, char** argv) {
  struct node nodes[3] = {{&nodes[1], 1}, {&nodes[2], 2}, {NULL, 3}};
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_ever, NULL);
  if (argc > 1 && strcmp(argv[1], "wait") == 0) {
    printf("ready\n");
    fflush(stdout);
    wait_for_ever(NULL);
  }
  printf("%d\n", sum(nodes, 3));
  fflush(stdout);
  printf("%d\n", sum(nodes, 4));
  return 0;
}
