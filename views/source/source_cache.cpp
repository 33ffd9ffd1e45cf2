#include "views/source/source_cache.h"

#include <QRegularExpression>

namespace traceback::views {

void SourceCache::setTrace(std::shared_ptr<const model::Trace> trace) {
  m_trace = std::move(trace);
  m_files.clear();
  m_checks.clear();
}

void SourceCache::setProvider(std::shared_ptr<SourceProvider> provider) {
  m_provider = std::move(provider);
  m_files.clear();
  m_checks.clear();
}

void SourceCache::forgetMisses() {
  std::erase_if(m_files, [](const auto& file) { return file.second == nullptr; });
}

void SourceCache::forget(model::FileId file) {
  m_files.erase(file);
  std::erase_if(m_checks, [file](const auto& check) { return check.first.first == file.value; });
}

const SourceText* SourceCache::source(model::FileId id) {
  if (!m_trace || !m_provider) return nullptr;
  const model::SourceFile* file = m_trace->file(id);
  if (file == nullptr) return nullptr;
  if (const auto found = m_files.find(id); found != m_files.end()) return found->second.get();
  auto text = m_provider->source(*file);
  auto& slot = m_files[id];
  if (text) slot = std::make_unique<SourceText>(std::move(*text));
  return slot.get();
}

SourceCheck SourceCache::check(model::FileId file, model::ModuleId module) {
  const SourceText* text = source(file);
  if (text == nullptr || m_trace->module(module) == nullptr) return {};
  const auto [known, isNew] = m_checks.try_emplace({file.value, module.value});
  if (isNew) known->second = checkNow(*text, file, module);
  return known->second;
}

SourceCheck SourceCache::checkNow(const SourceText& text, model::FileId file, model::ModuleId module) const {
  using Verdict = SourceCheck::Verdict;
  const model::Module& of = *m_trace->module(module);
  const QString name = QString::fromStdString(of.name);
  const auto version =
      text.md5 ? model::versionOf(*m_trace->file(file), module, *text.md5) : model::SourceVersion::Unknown;
  switch (version) {
    case model::SourceVersion::Same:
      return {Verdict::Same, tr("Its checksum is the one in the debug information of %1.").arg(name)};
    case model::SourceVersion::Other:
      return {Verdict::Different,
              tr("Its checksum is not the one in the debug information of %1.").arg(name)};
    case model::SourceVersion::Mixed:
      return {Verdict::Doubtful, tr("one of several versions that %1 was built from").arg(name)};
    case model::SourceVersion::Unknown:
      break;
  }
  const QString doubt = m_provider->doubt(text, of);
  return doubt.isEmpty() ? SourceCheck() : SourceCheck{Verdict::Doubtful, doubt};
}

QString SourceCache::line(model::FileId file, std::uint32_t number) {
  const SourceText* text = number == 0 ? nullptr : source(file);
  if (text == nullptr || number > static_cast<std::size_t>(text->lines.size())) return {};
  // Comments pushed far to the right come nearer.
  static const QRegularExpression kWide(QStringLiteral("\\s{3,}"));
  return text->lines[number - 1].trimmed().replace(kWide, QStringLiteral("  "));
}

}  // namespace traceback::views
