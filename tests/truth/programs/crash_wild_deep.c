// Crashes: follows a damaged pointer deep in a recursion over a tree.
#include <stdint.h>
#include <stdio.h>

struct Tree {
  int key;
  struct Tree *left, *right;
};
static struct Tree nodes[64];

static struct Tree* build(int low, int high) {
  if (low >= high) return NULL;
  int middle = (low + high) / 2;
  struct Tree* node = &nodes[middle];
  node->key = middle;
  node->left = build(low, middle);
  node->right = build(middle + 1, high);
  return node;
}

static int depthOf(const struct Tree* node) {
  if (node == NULL) return 0;
  int left = depthOf(node->left), right = depthOf(node->right);
  return 1 + (left > right ? left : right);
}

int main(void) {
  struct Tree* root = build(0, 64);
  printf("%d\n", depthOf(root));
  fflush(stdout);
  nodes[50].right = (struct Tree*)(uintptr_t)0x6161616161616161;
  printf("%d\n", depthOf(root));
  return 0;
}
