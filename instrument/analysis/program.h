// The program under instrumentation: its file, its unwind information, its functions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "instrument/flow/function.h"
#include "instrument/unwind/eh_frame.h"
#include "loader/elf/elf_image.h"
#include "model/error.h"

namespace traceback::instrument {

// A stretch of executable link-time addresses with the bytes that the file has for it.
struct CodeRange {
  VirtAddr start, end;
  std::span<const std::byte> bytes;
  bool contains(VirtAddr a) const { return a >= start && a < end; }
};

// Whether a function of that name counts calls for a profiler: code that is compiled for one (-pg) calls it
// before it touches its arguments.
bool isProfiler(std::string_view name);

struct Program {
  const loader::ElfImage* image = nullptr;
  EhFrame ehFrame;
  std::vector<CodeRange> code;
  std::vector<Function> functions;  // by start; they do not overlap, but for those skipped for it

  bool isCode(VirtAddr address) const;
  std::span<const std::byte> codeAt(VirtAddr address, std::uint64_t size) const;  // empty if not all there
  std::span<const std::byte> codeFrom(VirtAddr address) const;  // all that there is from there on
  // The function whose bytes hold the address; null if none does. Of overlapping ones any.
  Function* functionAt(VirtAddr address);
  const Function* functionAt(VirtAddr address) const;
  // The function that starts there.
  const Function* functionStartingAt(VirtAddr address) const;
};

// Finds the functions (FDEs), names and decodes them and reads their exception tables. A function that does
// not come out whole is marked to be skipped, with the reason; only a file that cannot be instrumented at all
// is an error. The image must outlive the program.
// `threads` as forEachIndex() has it.
model::Result<Program> readProgram(const loader::ElfImage& image, unsigned threads = 0);

}  // namespace traceback::instrument
