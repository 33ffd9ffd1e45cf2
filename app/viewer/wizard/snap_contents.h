// What snaps of a recording hold of the program, and who may read them, in words.
#pragma once

#include <QList>
#include <QString>

namespace traceback::app {

struct Recording;

// A choice of what snaps keep of the memory, as `traceback run --memory` takes it; empty: the default.
struct MemoryChoice {
  QString value;
  QString title;
};
QList<MemoryChoice> memoryChoices();

// One sentence or two about what is in a snap.
QString snapContents(const Recording& recording);
// Whom the rights of the file let read it.
QString snapReaders();

}  // namespace traceback::app
