// Crashes: frees twice, and the C library aborts.
#include <stdio.h>
#include <stdlib.h>

struct Buffer {
  char* bytes;
  int size;
};

static void release(struct Buffer* buffer) {
  if (buffer->size > 0) free(buffer->bytes);
  if (buffer->size < 100) buffer->size = 0;
}

int main(void) {
  struct Buffer buffers[4];
  for (int i = 0; i < 4; ++i) {
    buffers[i].size = 40 * (i + 1);
    buffers[i].bytes = malloc((size_t)buffers[i].size);
    if (buffers[i].bytes == NULL) return 1;
  }
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 4; ++i) release(&buffers[i]);
  printf("done\n");
  return 0;
}
