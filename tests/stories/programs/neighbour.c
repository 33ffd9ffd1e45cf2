// A key that is too long overwrites the link beside it; the list is walked long afterwards.
#include <stdio.h>
#include <string.h>

struct entry {
  char key[8];
  struct entry* next;
};

static struct entry table[4];

__attribute__((noinline)) static void setKey(struct entry* entry, const char* key) {
  size_t i = 0;
  do {
    entry->key[i] = key[i];  // the overwriting
  } while (key[i++] != 0);
}

__attribute__((noinline)) static int count(const struct entry* entry) {
  int number = 0;
  while (entry != NULL) {
    ++number;
    entry = entry->next;  // the fault
  }
  return number;
}

int main(void) {
  for (int i = 0; i < 3; ++i) table[i].next = &table[i + 1];
  setKey(&table[0], "red");
  setKey(&table[1], "green");
  setKey(&table[2], "a colour of the sea in the south");  // the culprit
  printf("%d\n", count(table));
  return 0;
}
