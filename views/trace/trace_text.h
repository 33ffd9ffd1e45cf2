// What the trace pane copies.
#pragma once

#include <QString>

class QAbstractItemView;
class QHeaderView;

namespace traceback::views {

class Navigator;

// The selected rows of a view as they stand there, a line each, with tabs between the columns that its header
// shows. What is further in is indented, if it is a tree.
QString selectedRowsText(const QAbstractItemView& view, const QHeaderView& header, bool isTree);
// The call at the position with everything in it.
QString wholeCallText(const Navigator& navigator);

}  // namespace traceback::views
