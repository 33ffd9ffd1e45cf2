// Has another function of a name that own_slots calls.
long plain(long n) { return 1000 - n; }
