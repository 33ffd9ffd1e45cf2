// What a snap says of the machine and of the files that were mapped.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace traceback::collect {

// "key=value\n" lines: host name, kernel, machine, time zone; of a living process its command line.
std::string describeHost(std::optional<pid_t> livingProcess);

// The files in the text of /proc/PID/maps, each once, in the order of their addresses.
std::vector<std::string> mappedFiles(const std::string& maps);

// Lines "path=..." each followed by "build-id=..." (hexadecimal, empty if there is none). A path is looked
// up below `root`.
std::string describeFiles(std::span<const std::string> paths, const std::string& root);

}  // namespace traceback::collect
