// The loader comes first: Qt takes some plain words, such as "slots", for its own.
#include "loader/disasm/module_code.h"
#include "loader/load_trace.h"
#include "loader/snap/snap_summary.h"
#include "loader/symbols/code_lines.h"
#include "loader/symbols/object_file.h"
#include "loader/symbols/stub_table.h"
#include "loader/symbols/symbol_table.h"
#include "loader/values/read_values.h"

#include "app/viewer/loader_services.h"

#include <QCoreApplication>
#include <QStandardPaths>
#include <map>
#include <optional>

#include "app/viewer/file_sources.h"
#include "model/demangle.h"
#include "model/function_name.h"

namespace traceback::app {
namespace {

// Of one function; more than anybody reads.
constexpr std::size_t kMostInstructions = 50'000;

// What leads out of a function by name: functions of the file, and those of others that its stubs lead to.
class Names {
 public:
  explicit Names(const std::string& path) {
    auto file = loader::ObjectFile::open(path);
    if (!file) return;
    m_file.emplace(std::move(*file));
    m_stubs.add(m_file->elf());
    m_symbols.add(m_file->elf());
    m_symbols.finish();
  }

  // " <strlen>"; empty if nothing is known to begin there.
  QString at(model::VirtAddr address) const {
    std::string_view name = m_stubs.at(address);
    const auto* symbol = name.empty() ? m_symbols.at(address) : nullptr;
    if (symbol != nullptr && symbol->start == address) name = symbol->name;
    if (name.empty()) return {};
    const std::string readable = model::shortFunctionName(model::demangle(std::string(name)));
    return QStringLiteral(" <%1>").arg(QString::fromStdString(readable));
  }

 private:
  std::optional<loader::ObjectFile> m_file;
  loader::StubTable m_stubs;
  loader::SymbolTable m_symbols;
};

class ModuleDisassembly : public views::DisassemblyProvider {
 public:
  model::Result<std::vector<views::Instruction>> disassemble(const model::Module& module,
                                                             model::VirtAddr start,
                                                             model::VirtAddr end) override {
    auto known = m_codes.find(module.path);
    if (known == m_codes.end())
      known =
          m_codes.emplace(module.path, loader::ModuleCode::openFirst({module.path}, module.buildId)).first;
    const model::Result<loader::ModuleCode>& code = known->second;
    if (!code) return std::unexpected(code.error());
    const Names& names = m_names.try_emplace(module.path, code->path()).first->second;
    std::vector<views::Instruction> result;
    for (const loader::Instruction& each :
         code->instructionsIn(start, end, kMostInstructions, loader::Syntax::Intel)) {
      const QString mnemonic = QString::fromStdString(each.mnemonic);
      QString operands = QString::fromStdString(each.operands);
      if (each.target && (*each.target < start || *each.target >= end)) operands += names.at(*each.target);
      result.push_back(
          {each.address, each.size,
           operands.isEmpty() ? mnemonic : QStringLiteral("%1 %2").arg(mnemonic, -8).arg(operands)});
    }
    return result;
  }

 private:
  std::map<std::string, model::Result<loader::ModuleCode>> m_codes;
  std::map<std::string, Names> m_names;
};

class ModuleCodeLines : public views::CodeLinesProvider {
 public:
  std::optional<std::vector<std::uint32_t>> linesWithCode(const model::Module& module,
                                                          const model::SourceFile& file,
                                                          std::stop_token stop) override {
    return loader::linesWithCode({module.path, module.path, module.buildId, {}}, file.path, stop);
  }
};

// Beside this program, as it is built and installed; else wherever the user has it.
QString commandLineProgram() {
  const QString name = QStringLiteral("traceback");
  const QString beside = QStandardPaths::findExecutable(name, {QCoreApplication::applicationDirPath()});
  return beside.isEmpty() ? QStandardPaths::findExecutable(name) : beside;
}

class SnapValues : public views::ValuesProvider {
 public:
  explicit SnapValues(std::filesystem::path snap) : m_snap(std::move(snap)) {}

  model::Result<model::Values> values(std::uint32_t tid, std::stop_token stop) override {
    if (!m_process) {
      auto opened = loader::openRecordedProcess(m_snap);
      if (!opened) return std::unexpected(opened.error());
      m_process.emplace(std::move(*opened));
    }
    loader::ValuesRequest request;
    request.tid = tid;
    return loader::readValues(*m_process, request, std::move(stop));
  }

 private:
  std::filesystem::path m_snap;
  std::optional<loader::RecordedProcess> m_process;
};

model::Result<SharedTrace> load(const std::filesystem::path& file, const LoadProgress& progress,
                                std::stop_token stop) {
  const auto report = [&progress](double done, std::string_view stage) {
    progress(done, std::string(stage));
  };
  loader::LoadOptions options;
  options.preview = progress.preview;
  return loader::loadTrace(file, options, report, std::move(stop));
}

}  // namespace

Services loaderServices() {
  return {load,
          fileSources,
          [] { return std::make_shared<ModuleDisassembly>(); },
          [] { return std::make_shared<ModuleCodeLines>(); },
          loader::readSummary,
          sourceReach,
          commandLineProgram(),
          [](const QString& snap) { return std::make_shared<SnapValues>(snap.toStdString()); }};
}

}  // namespace traceback::app
