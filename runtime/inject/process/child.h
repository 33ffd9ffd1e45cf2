// A program of ours in a child process, started from within the traced one.
#pragma once

namespace traceback::inject {

struct ChildProgram {
  const char* program;
  const char* const* arguments;
  const char* const* environment;
  bool silent;                  // its standard error goes nowhere
  unsigned mostMilliseconds;    // then it is killed; 0: it is waited for however long it takes
};

// Runs it to its end, with every signal at its default and no descriptor above 2: its exit status, or -1.
// Its end sends no signal, and no wait of the program's meets it. One at a time; signals must be blocked.
int runChild(const ChildProgram& child);
// The same without waiting: it lives beside the program, as a child of init, or whoever takes in what was
// left. Its number, or a negative error number.
long startBeside(const ChildProgram& child);

}  // namespace traceback::inject
