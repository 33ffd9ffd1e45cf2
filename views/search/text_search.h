// Where lines of source that hold a text ran.
#pragma once

#include <QString>
#include <stop_token>

#include "model/query/answer.h"
#include "model/trace.h"
#include "views/source/code_provider.h"

namespace traceback::views {

// Every execution of such a line, upper and lower case being the same, as answers to a question are. The note
// says so if there is none, and of how many lines. The provider is used by the calling thread alone.
model::Answer executionsOfText(const model::Trace& trace, SourceProvider& sources, const QString& text,
                               std::size_t limit, const std::stop_token& stop);

}  // namespace traceback::views
