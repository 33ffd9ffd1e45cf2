// Arguments that are used, and passed on, behind the finding of a variable of the thread's.
extern long consume(long a, long b, long c, long d, long e, long f);

__thread long calls;
static __thread long sums;

long mixes(long a, long b, long c, long d, long e, long f) {
  calls += 1;
  if ((calls & 3) == 0) return a ^ (b * 3) ^ (c * 5) ^ (d * 7) ^ (e * 11) ^ (f * 13);
  return a + b * 3 + c * 5 + d * 7 + e * 11 + f * 13;
}

long passes(long a, long b, long c, long d, long e, long f) {
  sums += 1;
  return consume(a, b, c, d, e, f);
}
