// A library whose constructor does not get far.
__attribute__((constructor)) static void constructor(void) { *(volatile int*)8 = 1; }
