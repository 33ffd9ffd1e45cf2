// A library to be rewritten.
int library_answer(void);
__attribute__((noipa)) int library_answer(void) {
  __asm__ volatile("");
  return 1;
}
