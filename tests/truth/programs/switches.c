// Switches: a dense table, a sparse one, one over characters, one with cases that fall through.
#include <stdio.h>

static int dense(unsigned x, int value) {
  switch (x) {
    case 0:
      return value + 1;
    case 1:
      return value * 2;
    case 2:
      value -= 3;
      break;
    case 3:
      value ^= 5;
      break;
    case 4:
      value <<= 1; /* fall through */
    case 5:
      value += 7;
      break;
    case 6:
      return -value;
    case 7:
      value %= 100;
      break;
    case 8:
      value |= 64;
      break;
    case 9:
      value &= 1023;
      break;
    default:
      value = 0;
  }
  return value;
}

static const char* sparse(int x) {
  switch (x) {
    case -1000:
      return "far below";
    case 3:
      return "three";
    case 77:
      return "seventy-seven";
    case 1000:
      return "thousand";
    case 65536:
      return "two bytes";
    case 1000000:
      return "million";
    default:
      return "other";
  }
}

static int token(const char* text) {
  int kind = 0;
  for (; *text != '\0'; ++text) {
    switch (*text) {
      case ' ':
      case '\t':
      case '\n':
        kind += 1;
        break;
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7':
      case '8':
      case '9':
        kind += 10;
        break;
      case '+':
        kind ^= 3;
        break;
      case '-':
        kind ^= 7;
        break;
      case '*':
        kind *= 3;
        break;
      case '/':
        kind /= 2;
        break;
      case '(':
        kind += 1000;
        break;
      case ')':
        kind -= 900;
        break;
      case 'x':
        kind += 5;
        break;
      default:
        kind += 100;
    }
  }
  return kind;
}

int main(void) {
  int value = 17;
  for (unsigned i = 0; i < 400; ++i) value = dense((i * 7 + (unsigned)value) % 12, value) & 0xFFFF;
  printf("dense: %d\n", value);
  static const int keys[] = {3, 77, -1000, 5, 65536, 1000, 999999, 1000000};
  for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; ++i) printf("%d is %s\n", keys[i], sparse(keys[i]));
  printf("tokens: %d\n", token("(12 + x) * 34 - y / (5 - 2)\n"));
  return 0;
}
