// What the pages of the wizard share.
#pragma once

#include <QString>

#include "app/viewer/incoming/incoming_snaps.h"
#include "app/viewer/wizard/files_model.h"
#include "app/viewer/wizard/plan_process.h"
#include "app/viewer/wizard/recording.h"

namespace traceback::app {

struct RecordState {
  RecordState(const QString& program, ReadSummary read)
      : traceback(program), plan(program), snaps(std::move(read)) {}

  QString traceback;  // the program
  Recording recording;
  QString subject;    // what is planned for: a program, or the number of a process
  PlanProcess plan;
  FilesModel files;
  IncomingSnaps snaps;  // in the folder that the recording's snaps go to
};

}  // namespace traceback::app
