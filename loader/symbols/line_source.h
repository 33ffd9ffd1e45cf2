// What the debug information of a module says about its addresses: lines, inlined frames, functions.
// The reconstructor asks through this interface; loader/symbols/ answers with libdw.
//
// All addresses are link-time addresses of the original file. Strings stay valid as long as the
// LineSource. Implementations must be usable from several threads at once (const means thread-safe).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "model/md5.h"

namespace traceback::loader {

// One function at an address: the innermost is the one whose line it is, the outer ones are those into
// which the compiler inlined it, each with the line of the call.
struct LineFrame {
  std::string_view function;  // linkage name if there is one, else the name; empty if unknown
  std::string_view file;      // absolute where the debug information allows it; empty if unknown
  std::uint32_t line = 0;     // 0: none (compiler-made code)
  model::VirtAddr
      functionStart;  // of an inlined frame: the entry of this inlined instance; else of the function
  std::uint64_t instance = 0;  // of an inlined frame: which one of the module's it is; 0: not known
};

// A stretch of addresses with one line and one stack of inlined frames.
struct LineRange {
  model::VirtAddr start, end;
  bool isStatement = true;        // the line table recommends a stop here
  std::vector<LineFrame> frames;  // innermost (inlined) first, the real function last; empty if unknown
};

struct FunctionInfo {
  std::string name;  // linkage name, else name, else as in the symbol table
  model::VirtAddr start;
  std::uint64_t size = 0;  // 0 if unknown
  std::string file;        // where it is defined; empty if unknown
  std::uint32_t line = 0;
};

class Debuginfod;

class LineSource {
 public:
  virtual ~LineSource() = default;

  // Whether there is a line table at all (else only symbol names).
  virtual bool hasLines() const = 0;

  // The ranges that cover [start, end), in address order, clipped to it and without overlap; holes where
  // nothing is known are left out.
  virtual std::vector<LineRange> rangesIn(model::VirtAddr start, model::VirtAddr end) const = 0;

  // The function (not an inlined one) that holds the address.
  virtual std::optional<FunctionInfo> functionAt(model::VirtAddr address) const = 0;

  // The linkage name of the function of another file to which the stub (PLT) at an address leads; empty if it
  // is none, or not known.
  virtual std::string_view stubAt(model::VirtAddr address) const {
    (void)address;
    return {};
  }

  // What is known of the source files that rangesIn() has named by now: the path as there, and the checksum
  // of the text that was compiled. One path may have several: parts of the module were compiled from several
  // versions of it.
  virtual std::vector<std::pair<std::string_view, model::Md5>> checksums() const { return {}; }
};

// What is known about a module when its debug information is looked for.
struct ModuleFiles {
  std::string path;  // of the original file, as recorded
  std::string loadedPath;  // of the file that the process mapped (the instrumented one)
  std::string buildId;  // hex; empty if none. What is found must have the same one
  std::vector<std::string> debugPaths;  // folders and files the user named, to search first
  Debuginfod* debuginfod = nullptr;  // whom to ask last; null: nobody
};

// Null if nothing is found. Reasons that the user should see go into `note`.
using LineSourceFactory =
    std::function<std::unique_ptr<LineSource>(const ModuleFiles& files, std::string& note)>;

}  // namespace traceback::loader
