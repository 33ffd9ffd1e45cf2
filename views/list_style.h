// The look that all lists beside the code share.
#pragma once

class QAbstractItemModel;
class QTreeView;

namespace traceback::views {

// A flat list of whole rows without a header, in which one column takes what room is left.
void prepareList(QTreeView* view, QAbstractItemModel* model, int stretched);

}  // namespace traceback::views
