// One of the libraries that churning.c loads: MODULE is its number. Each gives other results by another path.
unsigned moduleValue(unsigned n);

static unsigned step(unsigned x, unsigned n) {
  if (x % (MODULE + 2) == 0) return x / 2 + n;
  return x * 3 + MODULE;
}

unsigned moduleValue(unsigned n) {
  unsigned x = MODULE;
  for (unsigned i = 0; i < n % 8 + 1; ++i) x = step(x, i);
  return x % 10007;
}
