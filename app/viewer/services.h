// What the windows get from below; tests bring their own.
#pragma once

#include <QList>
#include <functional>
#include <memory>

#include "app/viewer/incoming/incoming_snaps.h"
#include "app/viewer/load_job.h"
#include "app/viewer/settings.h"
#include "app/viewer/source_reach.h"
#include "views/source/code_provider.h"
#include "views/values/end_values.h"

namespace traceback::app {

struct Services {
  LoadFunction load;
  std::function<std::shared_ptr<views::SourceProvider>(const QList<SourceMapping>&)> sources;
  std::function<std::shared_ptr<views::DisassemblyProvider>()> disassembly;
  std::function<std::shared_ptr<views::CodeLinesProvider>()> codeLines;
  ReadSummary summary = {};  // of a snap, without loading it
  ReachFunction reach = {};  // what source folders lead to
  QString traceback = {};    // the program of the command line; empty if it is nowhere
  std::function<std::shared_ptr<views::ValuesProvider>(const QString& snap)> values = {};
};

}  // namespace traceback::app
