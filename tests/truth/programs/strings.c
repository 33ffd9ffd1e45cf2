// Loops over bytes: copies, searches, a hash, a sort of words; and instructions that repeat themselves.
#include <stdio.h>
#include <string.h>

static const char text[] = "the quick brown fox jumps over the lazy dog and then the dog sleeps over there";

static unsigned hash(const char* s, unsigned long n) {
  unsigned h = 2166136261u;
  while (n-- > 0) h = (h ^ (unsigned char)*s++) * 16777619u;
  return h;
}

static int find(const char* where, const char* what) {
  for (int i = 0; where[i] != '\0'; ++i) {
    int j = 0;
    while (what[j] != '\0' && where[i + j] == what[j]) ++j;
    if (what[j] == '\0') return i;
  }
  return -1;
}

static void copyBytes(char* to, const char* from, unsigned long n) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static unsigned long lengthOf(const char* s) {
  unsigned long left = ~0ul;
  const char* at = s;
  __asm__ volatile("repne scasb" : "+D"(at), "+c"(left) : "a"(0) : "memory", "cc");
  return ~left - 1;
}

static void reverse(char* s) {
  for (char *a = s, *b = s + strlen(s); a < --b; ++a) {
    char c = *a;
    *a = *b;
    *b = c;
  }
}

int main(void) {
  char buffer[sizeof text];
  copyBytes(buffer, text, sizeof text);
  printf("%lu %08x\n", lengthOf(buffer), hash(buffer, strlen(buffer)));
  printf("%d %d %d\n", find(buffer, "fox"), find(buffer, "dog sleeps"), find(buffer, "cat"));
  int words = 0;
  for (char* word = strtok(buffer, " "); word != NULL; word = strtok(NULL, " ")) {
    reverse(word);
    if (word[0] > 'm') printf("%s ", word);
    ++words;
  }
  printf("\n%d words\n", words);
  char wide[300];
  memset(wide, 'x', sizeof wide);
  wide[299] = '\0';
  for (int i = 0; i < 299; i += 7) wide[i] = (char)('a' + i % 26);
  printf("%08x\n", hash(wide, lengthOf(wide)));
  return 0;
}
