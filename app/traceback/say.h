// Standard output and standard error, whatever they are: std::print throws where one cannot be written to.
#pragma once

#include <cstdio>
#include <format>
#include <string_view>
#include <utility>

namespace traceback::app {

// What could not be written is found by finishOutput().
bool putOut(std::string_view text);
// What was put out so far is seen at once.
void flushOut();
// Whether anybody hears it changes nothing, nor does SIGPIPE end the process for it.
void putError(std::string_view text);

// The errno of what could not be written to standard output first; 0: nothing.
int outputError();

// Those of 0 to 2 that are closed are taken, lest a file that is opened becomes one of them and gets what is
// said. They cannot be written to, and are closed again for whatever is executed.
void holdClosedStreams();

template <typename... Args>
void say(std::format_string<Args...> format, Args&&... args) {
  putOut(std::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void sayLine(std::format_string<Args...> format, Args&&... args) {
  putOut(std::format(format, std::forward<Args>(args)...) + '\n');
}

template <typename... Args>
void tell(std::format_string<Args...> format, Args&&... args) {
  putError(std::format(format, std::forward<Args>(args)...));
}

// A line on standard error.
template <typename... Args>
void tellLine(std::format_string<Args...> format, Args&&... args) {
  putError(std::format(format, std::forward<Args>(args)...) + '\n');
}

}  // namespace traceback::app
