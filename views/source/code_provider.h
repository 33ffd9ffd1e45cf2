// What the views need from outside the trace: the text of source files and the instructions of functions.
// The program that shows the views implements these; a test may bring its own.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "model/error.h"
#include "model/trace.h"

namespace traceback::views {

struct SourceText {
  QString path;       // where it was found; may differ from where it was compiled
  QStringList lines;  // without line ends
  std::optional<model::Md5> md5 = {};  // of the file's bytes; nothing if it is not a file
  // If `path` is a copy that was fetched: what it is a copy of, by the name that debug information has.
  QString fetched = {};

  QString name() const { return fetched.isEmpty() ? path : fetched; }
};

// Whether a text is what was compiled into a module.
struct SourceCheck {
  enum class Verdict : std::uint8_t {
    Unknown,    // nothing says either way
    Same,       // it has the checksum that the debug information has
    Doubtful,   // something says that it may not be
    Different,  // it has another checksum
  } verdict = Verdict::Unknown;
  QString why;  // in a few words; empty if unknown

  friend bool operator==(const SourceCheck&, const SourceCheck&) = default;
};

// But for fetch() called on the UI thread; answers are kept by the caller until the trace changes.
class SourceProvider {
 public:
  virtual ~SourceProvider() = default;
  virtual std::optional<SourceText> source(const model::SourceFile& file) = 0;
  // Where no checksum tells: why the text may not be what was compiled into the module, in a few words; empty
  // if nothing says so.
  virtual QString doubt(const SourceText& text, const model::Module& module) {
    (void)text, (void)module;
    return {};
  }

  // Whether a text that is not here may be fetched from elsewhere: only if the user has said so.
  virtual bool canFetch(const model::SourceFile& file, const model::Module& module) {
    (void)file, (void)module;
    return false;
  }
  // Fetches it; source() has it afterwards. On a thread of its own, one call at a time. `goOn` is called some
  // times a second with the bytes that are there and of how many (0: not known); false ends it.
  using GoOn = std::function<bool(std::uint64_t done, std::uint64_t total)>;
  virtual model::Result<void> fetch(const model::SourceFile& file, const model::Module& module,
                                    const GoOn& goOn) {
    (void)file, (void)module, (void)goOn;
    return model::fail("sources are not fetched");
  }
};

// Called on a thread of its own, one call at a time.
class CodeLinesProvider {
 public:
  virtual ~CodeLinesProvider() = default;
  // The lines of a file that have code in a module, ascending; nothing if that is not known, or if stopped.
  virtual std::optional<std::vector<std::uint32_t>> linesWithCode(const model::Module& module,
                                                                  const model::SourceFile& file,
                                                                  std::stop_token stop) = 0;
};

struct Instruction {
  model::VirtAddr address;
  std::uint32_t size = 0;
  QString text;  // "mov    rax, qword ptr [rbp - 8]"
};

// Called on the UI thread, for one function at a time.
class DisassemblyProvider {
 public:
  virtual ~DisassemblyProvider() = default;
  // Instructions from `start` up to `end`, both link-time addresses of the module's original file.
  virtual model::Result<std::vector<Instruction>> disassemble(const model::Module& module,
                                                              model::VirtAddr start, model::VirtAddr end) = 0;
};

}  // namespace traceback::views
