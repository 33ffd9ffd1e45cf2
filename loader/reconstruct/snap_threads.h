// The threads of a snap, each with its ring.
#pragma once

#include <optional>
#include <vector>

#include "loader/reconstruct/timeline.h"
#include "loader/ring/ring_view.h"
#include "loader/snap/snap_contents.h"
#include "loader/snap/snap_reader.h"
#include "model/load_report.h"
#include "model/trace.h"

namespace traceback::loader {

struct RecordedThread {
  model::ThreadTrace::Info info;
  std::optional<RingView> ring;  // its beginnings are not settled
  ThreadEndState end;
};

// The one at fault first, then by tid.
std::vector<RecordedThread> findThreads(const SnapReader& snap, const SnapContents& contents,
                                        model::LoadReport& report);

}  // namespace traceback::loader
