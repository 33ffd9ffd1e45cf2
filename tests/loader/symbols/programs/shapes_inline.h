#pragma once

inline int square(int value) { return value * value; }

inline int twice(int value) {
  const int once = square(value) ? value : -value;
  return once + once;
}

inline int clampTo(int value, int limit) {
  if (value < -limit) return -limit;
  return value > limit ? limit : twice(value);
}
