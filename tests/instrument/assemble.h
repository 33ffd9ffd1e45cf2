// Assembles a few lines of assembly at test time and gives the bytes: tests then read as code.
#pragma once

#include <QByteArray>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include "instrument/flow/function.h"

namespace traceback::tests {

inline constexpr std::uint64_t kAssembledAt = 0x1000;

// Empty if the assembler refuses it.
inline QByteArray assemble(const char* text) {
  QTemporaryDir folder;
  const QString source = folder.filePath("a.s"), object = folder.filePath("a.o"),
                binary = folder.filePath("a.bin");
  QFile file(source);
  if (!file.open(QIODevice::WriteOnly)) return {};
  file.write(text);
  file.write("\n");
  file.close();
  if (QProcess::execute("as", {"-o", object, source}) != 0) return {};
  if (QProcess::execute("objcopy", {"-O", "binary", "-j", ".text", object, binary}) != 0) return {};
  QFile out(binary);
  return out.open(QIODevice::ReadOnly) ? out.readAll() : QByteArray();
}

inline instrument::Function functionOf(const QByteArray& code) {
  instrument::Function f;
  f.start = {kAssembledAt};
  f.size = std::uint64_t(code.size());
  auto bytes = std::as_bytes(std::span(code.constData(), std::size_t(code.size())));
  for (model::VirtAddr at = f.start; !bytes.empty();) {
    const auto insn = instrument::decode(bytes, at);
    if (!insn) return {};
    if (insn->flow == instrument::Flow::IndirectJump) f.hasIndirectJump = true;
    f.instructions.push_back(*insn);
    at = insn->end();
    bytes = bytes.subspan(insn->length);
  }
  f.decoded = true;
  f.entered = true;
  return f;
}

}  // namespace traceback::tests
