// The codes of an instrumented file, by the header in it.
#pragma once

#include <QFile>
#include <cstdint>
#include <cstring>

#include "runtime/format/module.h"

namespace traceback::test {

struct ModuleCodes {
  std::uint32_t base = 0, span = 0;  // 0: it has none
};

inline ModuleCodes codesOf(const QString& path) {
  QFile file(path);
  const QByteArray bytes = file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  for (qsizetype at = 0; at + qsizetype(sizeof(format::ModuleHeader)) <= bytes.size(); at += 4096) {
    format::ModuleHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    if (header.magic == format::kModuleMagic) return {header.codeBase, header.codeSpan};
  }
  return {};
}

inline bool meet(const ModuleCodes& a, const ModuleCodes& b) {
  return a.base < b.base + b.span && b.base < a.base + a.span;
}

}  // namespace traceback::test
