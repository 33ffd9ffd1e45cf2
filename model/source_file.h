// A source file as debug information names it, and whether a text is the version of it that was compiled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ids.h"
#include "model/md5.h"

namespace traceback::model {

struct SourceFile {
  std::string path;  // as the debug information has it, made absolute by its compilation folder
  // Of the text that was compiled into a module, where its debug information has checksums; several of one
  // module if that was made of several versions of the file.
  struct Checksum {
    ModuleId module;
    Md5 md5{};
    friend bool operator==(const Checksum&, const Checksum&) = default;
  };
  std::vector<Checksum> checksums = {};
};

// Whether a text with this checksum is the one that was compiled into a module.
enum class SourceVersion : std::uint8_t {
  Unknown,  // the debug information has no checksum of it
  Same,
  Mixed,  // it is one of several that were
  Other,
};
SourceVersion versionOf(const SourceFile& file, ModuleId module, const Md5& md5);

}  // namespace traceback::model
