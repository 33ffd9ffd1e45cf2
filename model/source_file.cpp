#include "model/source_file.h"

namespace traceback::model {

SourceVersion versionOf(const SourceFile& file, ModuleId module, const Md5& md5) {
  bool same = false, other = false;
  for (const SourceFile::Checksum& known : file.checksums) {
    if (known.module != module) continue;
    (known.md5 == md5 ? same : other) = true;
  }
  if (same) return other ? SourceVersion::Mixed : SourceVersion::Same;
  return other ? SourceVersion::Other : SourceVersion::Unknown;
}

}  // namespace traceback::model
