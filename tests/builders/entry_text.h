// Traces as text, one entry a line, indented by depth, for tests to compare with what they expect:
//
//     call main
//     main 1000-1007                 a line entry without line information: function, first and last byte
//     main:12                        with line information
//     main 1008-100a fault partial   with flags
//     gap damaged | signal 11 | sync 1 | exception | return main interrupted
#pragma once

#include <string>

#include "model/trace.h"

namespace traceback::tests {

std::string entryText(const model::Trace& trace, const model::Entry& entry);
std::string threadText(const model::Trace& trace, const model::ThreadTrace& thread);
// What the load report says, a line each.
std::string notesOf(const model::Trace& trace);
// Without indentation and empty lines, for comparison with text in a test's source.
std::string trimmed(const std::string& text, std::size_t indentation);

}  // namespace traceback::tests
