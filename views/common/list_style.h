// The look that all lists beside the code share.
#pragma once

class QAbstractItemModel;
class QTreeView;

namespace traceback::views {

// A flat list of whole rows without a header, in which one column takes what room is left.
void prepareList(QTreeView* view, QAbstractItemModel* model, int stretched);

// Such rows under a header and within the view's frame, as dialogs have them. To be called before anything is
// said of the header's sections.
void prepareTable(QTreeView* view);

}  // namespace traceback::views
