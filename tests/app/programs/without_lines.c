// Of a library without debug information.
int without_lines(int rounds) {
  int sum = 0;
  while (rounds > 1) {
    rounds /= 2;
    sum += rounds % 3;
  }
  return sum;
}
