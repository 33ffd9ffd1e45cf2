// Crashes: reads through a null pointer, in a list that ends too early.
#include <stdio.h>

struct Node {
  int value;
  struct Node* next;
};

static int sumOf(const struct Node* node, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i) {
    total += node->value;
    node = node->next;
  }
  return total;
}

int main(void) {
  struct Node nodes[4] = {{1, &nodes[1]}, {2, &nodes[2]}, {3, &nodes[3]}, {4, NULL}};
  for (int count = 1; count < 8; ++count) {
    printf("%d: %d\n", count, sumOf(nodes, count));
    fflush(stdout);
  }
  return 0;
}
