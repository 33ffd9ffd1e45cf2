// A small program with its source and a trace of its fault, for tests that need to see something.
#pragma once

#include <QHash>
#include <QString>
#include <atomic>
#include <memory>

#include "app/viewer/main_window.h"
#include "model/trace.h"
#include "views/source/code_provider.h"
#include "views/values/end_values.h"

namespace traceback::tests {

// Source from memory, by path.
class MemorySources : public views::SourceProvider {
 public:
  explicit MemorySources(QHash<QString, QString> files) : m_files(std::move(files)) {}
  std::optional<views::SourceText> source(const model::SourceFile& file) override;
  int asked() const { return m_asked; }

 private:
  QHash<QString, QString> m_files;
  int m_asked = 0;
};

// One made-up instruction every two bytes: two for each line of the sample.
class MemoryDisassembly : public views::DisassemblyProvider {
 public:
  explicit MemoryDisassembly(bool works) : m_works(works) {}
  model::Result<std::vector<views::Instruction>> disassemble(const model::Module& module,
                                                             model::VirtAddr start,
                                                             model::VirtAddr end) override;

 private:
  bool m_works;
};

// A line has code if it has a semicolon or is the condition of something.
class MemoryCodeLines : public views::CodeLinesProvider {
 public:
  std::optional<std::vector<std::uint32_t>> linesWithCode(const model::Module& module,
                                                          const model::SourceFile& file,
                                                          std::stop_token stop) override;
};

// Two files, /src/main.c and /src/parser.c.
QHash<QString, QString> sampleSources();
// Three threads; the first faulted in visit(), called by parse(), called by main().
std::shared_ptr<model::Trace> sampleTrace();

// Values of the sample's first thread. Answers once it may.
class MemoryValues : public views::ValuesProvider {
 public:
  model::Result<model::Values> values(std::uint32_t tid, std::stop_token stop) override;
  void answer() { m_mayAnswer = true; }
  int asked() const { return m_asked; }
  int stopped() const { return m_stopped; }

 private:
  std::atomic<bool> m_mayAnswer = false;
  std::atomic<int> m_asked = 0, m_stopped = 0;
};

enum class Code : std::uint8_t { Source, Disassembly, Nothing };
// A window's services that load the trace whatever file is asked for.
app::Services sampleServices(std::shared_ptr<const model::Trace> trace, Code code = Code::Source);
// An ordinary window on the trace, opened and shown, that remembers nothing.
std::unique_ptr<app::MainWindow> sampleWindow(const std::shared_ptr<const model::Trace>& trace,
                                              Code code = Code::Source);

}  // namespace traceback::tests
