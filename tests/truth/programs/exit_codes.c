// Ends by exit from deep within, with a status that says which way it went.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void decide(const char* word, int depth) {
  static const char* const words[] = {"alpha", "beta", "gamma", "delta"};
  for (int i = 0; i < 4; ++i) {
    if (strcmp(word, words[i]) != 0) continue;
    if (depth < i) decide(words[(i + 1) % 4], depth + 1);
    printf("%s at %d\n", word, depth);
    exit(10 * i + depth);
  }
  decide("gamma", depth + 1);
}

int main(int argc, char** argv) {
  decide(argc > 1 ? argv[1] : "omega", 0);
  return 99;
}
