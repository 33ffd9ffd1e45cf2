// The calls that an entry is in, in words.
#pragma once

#include <QString>

#include "model/trace.h"

namespace traceback::views {

// "visit ← visit ← main", innermost first; of many the first few.
QString callChain(const model::Trace& trace, const model::ThreadTrace& thread, model::EntryIndex at);

}  // namespace traceback::views
