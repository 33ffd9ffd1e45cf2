#include "app/viewer/wizard/snap_contents.h"

#include <QCoreApplication>

#include "app/viewer/wizard/recording.h"

namespace traceback::app {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(traceback::app::SnapContents)
};

}  // namespace

// The values are format::kKeptMemoryNames; a test holds them to it.
QList<MemoryChoice> memoryChoices() {
  return {{QString(), Words::tr("the stacks of its threads (by default)")},
          {QStringLiteral("writable"), Words::tr("all that it may write: stacks, heap, variables")},
          {QStringLiteral("all"), Words::tr("all that it may read")},
          {QStringLiteral("none"), Words::tr("nothing")}};
}

QString snapContents(const Recording& recording) {
  if (recording.memory == QLatin1String("none"))
    return Words::tr(
        "A snap holds the lines that ran, the program's command line and the names of its files, but no "
        "values of variables.");
  if (recording.memory == QLatin1String("writable"))
    return Words::tr(
        "A snap holds all that the program was working on: its variables and its heap, up to 1 GiB, with its "
        "command line, its environment, and whatever passwords and keys it had in memory.");
  if (recording.memory == QLatin1String("all"))
    return Words::tr(
        "A snap holds all that the program could read in its memory, up to 1 GiB, with its command line, its "
        "environment, and whatever passwords and keys it had there.");
  return Words::tr(
      "A snap holds data of the program: its command line, what its exceptions said, and of each thread up "
      "to "
      "256 KiB of stack, with arguments and variables of functions, and in most cases the environment.");
}

QString snapReaders() { return Words::tr("Only the user that it runs as may read the file, and root."); }

}  // namespace traceback::app
