#include "views/trace/call_chain.h"

#include <QStringList>

#include "model/call_tree.h"
#include "views/common/formatting.h"

namespace traceback::views {
namespace {

constexpr qsizetype kCallsNamed = 4;

}  // namespace

QString callChain(const model::Trace& trace, const model::ThreadTrace& thread, model::EntryIndex at) {
  QStringList names;
  for (const model::CallSpan& call : model::activeCalls(thread, at)) {
    if (names.size() >= kCallsNamed) {
      names.append(QStringLiteral("\u2026"));
      break;
    }
    names.append(shortFunctionName(trace, call.function));
  }
  return names.join(QStringLiteral(" \u2190 "));
}

}  // namespace traceback::views
