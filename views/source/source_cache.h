// Source text by file, fetched once. What was not found is remembered too.
#pragma once

#include <QCoreApplication>
#include <QString>
#include <map>
#include <memory>
#include <unordered_map>

#include "model/trace.h"
#include "views/source/code_provider.h"

namespace traceback::views {

class SourceCache {
  Q_DECLARE_TR_FUNCTIONS(traceback::views::SourceCache)

 public:
  // Without a provider nothing is found. Both are forgotten with setTrace.
  void setTrace(std::shared_ptr<const model::Trace> trace);
  void setProvider(std::shared_ptr<SourceProvider> provider);
  // Null if there is none.
  const std::shared_ptr<SourceProvider>& provider() const { return m_provider; }
  // Looks again for what was not found.
  void forgetMisses();
  // Looks for this one again, found or not.
  void forget(model::FileId file);

  const SourceText* source(model::FileId file);          // null if not found
  // Whether that is what was compiled into the module.
  SourceCheck check(model::FileId file, model::ModuleId module);
  QString line(model::FileId file, std::uint32_t line);  // trimmed; empty if not found

 private:
  SourceCheck checkNow(const SourceText& text, model::FileId file, model::ModuleId module) const;

  std::shared_ptr<const model::Trace> m_trace;
  std::shared_ptr<SourceProvider> m_provider;
  std::unordered_map<model::FileId, std::unique_ptr<SourceText>> m_files;
  std::map<std::pair<std::uint32_t, std::uint32_t>, SourceCheck> m_checks;  // by file and module
};

}  // namespace traceback::views
