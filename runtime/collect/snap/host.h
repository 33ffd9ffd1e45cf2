// What a snap says of the machine and of the files that were mapped.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace traceback::collect {

// What would end a line early is shown otherwise.
std::string oneLine(std::string text);

// "key=value\n" lines: host name, kernel, machine, time zone; of a living process its command line, or its
// name alone.
std::string describeHost(std::optional<pid_t> livingProcess, bool withArguments);

// A file in the text of /proc/PID/maps.
struct MappedPath {
  std::string path;
  bool executable = false;  // a part of it is mapped so
  bool deleted = false;     // no longer there under that name
};
// Each once, in the order of their addresses, without devices and memory that has a name.
std::vector<MappedPath> mappedPaths(const std::string& maps);

// The paths of those that are still there.
std::vector<std::string> mappedFiles(const std::string& maps);

// Lines "path=..." each followed by "build-id=..." (hexadecimal, empty if there is none). A path is looked
// up below `root`.
std::string describeFiles(std::span<const std::string> paths, const std::string& root);

}  // namespace traceback::collect
