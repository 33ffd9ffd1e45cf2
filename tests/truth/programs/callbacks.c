// The C library calls back: qsort, bsearch, a tree of tsearch, and a comparison that sorts again.
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int calls;

static int compareInts(const void* a, const void* b) {
  int x = *(const int*)a, y = *(const int*)b;
  ++calls;
  if (x < y) return -1;
  return x > y;
}

static int compareRows(const void* a, const void* b) {
  int rows[2][4];
  memcpy(rows[0], a, sizeof rows[0]);
  memcpy(rows[1], b, sizeof rows[1]);
  qsort(rows[0], 4, sizeof(int), compareInts);
  qsort(rows[1], 4, sizeof(int), compareInts);
  for (int i = 0; i < 4; ++i)
    if (rows[0][i] != rows[1][i]) return rows[0][i] < rows[1][i] ? -1 : 1;
  return 0;
}

static int visited;
static void visit(const void* node, VISIT order, int level) {
  if (order == postorder || order == leaf) visited = visited * 3 + **(int* const*)node + level;
}

int main(void) {
  int values[50], rows[8][4];
  for (int i = 0; i < 50; ++i) values[i] = (i * 7919) % 101;
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 4; ++j) rows[i][j] = values[(i * 5 + j * 3) % 50];
  qsort(values, 50, sizeof(int), compareInts);
  printf("%d %d %d\n", values[0], values[25], values[49]);
  int found = 0;
  for (int key = 0; key < 101; key += 9) found += bsearch(&key, values, 50, sizeof(int), compareInts) != NULL;
  qsort(rows, 8, sizeof rows[0], compareRows);
  printf("found %d, first row %d, calls %d\n", found, rows[0][0], calls);
  void* root = NULL;
  for (int i = 0; i < 20; ++i) tsearch(&values[i * 2], &root, compareInts);
  twalk(root, visit);
  printf("visited %d\n", visited);
  return 0;
}
