// A thread's trace as a tree of calls. Only what was unfolded is there, and of a call with many children only
// a run of them, with a row at either end that brings more. A stack too deep to draw is shown from one of
// the inner calls on, with a row that brings the outer ones.
//
// Rows that repeat are folded into one with a count, and rows that the filter leaves out into one that says
// how many entries they are. The rows of either are below it, and are brought when it is unfolded.
#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/call_tree.h"
#include "model/trace.h"
#include "views/trace/entry_text.h"
#include "views/trace/trace_filter.h"

namespace traceback::views {

class TreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  static constexpr std::size_t kBatch = 200;  // children brought at a time
  static constexpr std::size_t kDeepest = 40;  // levels drawn
  static constexpr std::size_t kKeptLevels = 20;  // of them, when the stack is deeper

  explicit TreeModel(SourceCache& sources, QObject* parent = nullptr);
  ~TreeModel() override;

  void setThread(std::shared_ptr<const model::Trace> trace, model::ThreadIndex thread);
  // Puts the rows together anew.
  void setRules(const TraceFilter& filter, bool fold);
  // The row of an entry, or of the call that it is the beginning or end of. Brings what is on the way there.
  QModelIndex reveal(model::EntryIndex entry);
  // True if `index` is the row of the entry or of a call that contains it.
  bool covers(const QModelIndex& index, model::EntryIndex entry) const;
  bool isMore(const QModelIndex& index) const;
  // True if the row stands for several rows, which are below it.
  bool isFolded(const QModelIndex& index) const;
  // For a row that stands for more: brings it, and gives the row that now stands in its place.
  QModelIndex showMore(const QModelIndex& index);
  void refreshSources();

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  bool hasChildren(const QModelIndex& parent = {}) const override;
  bool canFetchMore(const QModelIndex& parent) const override;
  void fetchMore(const QModelIndex& parent) override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Node;

  Node* nodeOf(const QModelIndex& index) const;
  QModelIndex indexOf(const Node* node, int column = 0) const;
  // `until`: rows of what begins before it, and none for what follows.
  std::vector<std::unique_ptr<Node>> makeRows(Node* parent, model::EntryIndex from, std::size_t count,
                                              std::optional<model::EntryIndex> until = {}) const;
  std::unique_ptr<Node> makeGroup(const Node* parent, std::span<const model::Child> children,
                                  model::EntryIndex end) const;
  void arrange(Node* parent, std::vector<model::Child>& children, bool more,
               std::vector<std::unique_ptr<Node>>& rows, model::EntryIndex& after, bool& ended) const;
  Node* groupAt(Node* node, model::EntryIndex start) const;
  QVariant groupData(const Node& node, int column, int role) const;
  model::EntryIndex earlier(const model::CallSpan& span, model::EntryIndex from, std::size_t count) const;
  void load(Node* node, model::EntryIndex around);
  void replace(Node* node, std::size_t first, std::size_t count, std::vector<std::unique_ptr<Node>> rows);
  Node* childAt(Node* node, model::EntryIndex start) const;
  void setRoot(const std::vector<model::CallSpan>& path, std::size_t levels);
  QVariant moreData(const Node& node, int column, int role) const;

  SourceCache* m_sources;
  std::shared_ptr<const model::Trace> m_trace;
  const model::ThreadTrace* m_thread = nullptr;
  model::ThreadIndex m_threadIndex;
  TraceFilter m_filter;
  bool m_fold = false;
  RowRules m_rules;
  std::unique_ptr<Node> m_root;
};

}  // namespace traceback::views
