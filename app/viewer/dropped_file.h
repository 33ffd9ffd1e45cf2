// What may be dropped on a window: one file of this machine.
#pragma once

#include <QList>
#include <QMimeData>
#include <QString>
#include <QUrl>

namespace traceback::app {

// Its name; empty if it is anything else.
inline QString droppedFile(const QMimeData& data) {
  const QList<QUrl> urls = data.urls();
  return urls.size() == 1 && urls.first().isLocalFile() ? urls.first().toLocalFile() : QString();
}

}  // namespace traceback::app
