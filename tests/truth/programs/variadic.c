// Functions of variable arguments, with integers, doubles and strings, and a formatter that recurses.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static long sum(int count, ...) {
  va_list list;
  va_start(list, count);
  long total = 0;
  for (int i = 0; i < count; ++i) total += va_arg(list, int);
  va_end(list);
  return total;
}

static double mixed(const char* kinds, ...) {
  va_list list;
  va_start(list, kinds);
  double total = 0;
  for (; *kinds != '\0'; ++kinds) {
    switch (*kinds) {
      case 'i':
        total += va_arg(list, int);
        break;
      case 'l':
        total += (double)va_arg(list, long);
        break;
      case 'd':
        total *= va_arg(list, double);
        break;
      case 's':
        total += (double)strlen(va_arg(list, const char*));
        break;
    }
  }
  va_end(list);
  return total;
}

static int build(char* out, int size, const char* format, va_list list) {
  int used = 0;
  for (; *format != '\0' && used + 1 < size; ++format) {
    if (*format != '%') {
      out[used++] = *format;
      continue;
    }
    unsigned value = va_arg(list, unsigned), digits[10];
    int n = 0;
    do digits[n++] = value % 10;
    while ((value /= 10) != 0);
    while (n > 0 && used + 1 < size) out[used++] = (char)('0' + digits[--n]);
  }
  out[used] = '\0';
  return used;
}

static int format(char* out, int size, const char* text, ...) {
  va_list list;
  va_start(list, text);
  int used = build(out, size, text, list);
  va_end(list);
  return used;
}

int main(void) {
  char text[64];
  printf("%ld %ld\n", sum(3, 1, 2, 3), sum(9, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  printf("%.3f\n", mixed("iidsld", 3, 4, 1.5, "hello", 100L, 0.25));
  int used = format(text, sizeof text, "% apples and % pears, % in all", 12u, 3456u, 3468u);
  printf("%d: %s\n", used, text);
  used = format(text, 12, "% is cut", 123456789u);
  printf("%d: %s\n", used, text);
  return 0;
}
