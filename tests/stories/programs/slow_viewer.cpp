// The viewer with one panel more, which lists each place that a thread was at once. Its author tried it with
// small traces; with a large one the window does not answer any more.
#include <QAbstractListModel>
#include <QApplication>
#include <QDockWidget>
#include <QListView>
#include <QTimer>
#include <cstdio>
#include <vector>

#include "app/viewer/main_window.h"
#include "sample.h"
#include "tests/builders/trace_text.h"

using namespace traceback;

namespace {

struct Place {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
};

class PlacesModel : public QAbstractListModel {
 public:
  void show(const model::ThreadTrace& thread);
  int rowCount(const QModelIndex&) const override { return static_cast<int>(m_places.size()); }
  QVariant data(const QModelIndex& index, int role) const override {
    return role == Qt::DisplayRole ? m_places[static_cast<std::size_t>(index.row())].line : QVariant();
  }

 private:
  [[gnu::noinline]] bool isListed(Place place) const;

  std::vector<Place> m_places;
};

bool PlacesModel::isListed(Place place) const {
  for (const Place& known : m_places) {
    if (known.line == place.line && known.file == place.file) return true;  // the culprit
  }
  return false;
}

void PlacesModel::show(const model::ThreadTrace& thread) {
  beginResetModel();
  m_places.clear();
  for (model::EntryIndex at = 0; at < thread.entryCount(); ++at) {
    const model::Entry entry = thread.entry(at);
    const Place place{entry.file.value, entry.line};
    if (!isListed(place)) m_places.push_back(place);  // once for each entry
  }
  endResetModel();
}

// Of a long run through generated code: every line once.
std::shared_ptr<const model::Trace> longTrace() {
  constexpr std::uint32_t kLines = 400'000;
  auto trace = tests::traceOf("call main main.c\n  1\n");
  std::vector<model::Entry> entries(kLines, trace->threads[0]->entry(1));
  for (std::uint32_t i = 0; i < kLines; ++i) entries[i].line = i + 1;
  constexpr std::size_t kChunk = 4096;
  trace->threads[0] = tests::threadOf(std::move(entries), kChunk, trace->threads[0]->info());
  return trace;
}

void say(const char* what) {
  std::puts(what);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const QApplication application(argc, argv);
  const auto window = tests::sampleWindow(tests::sampleTrace());
  PlacesModel places;
  auto* list = new QListView;
  list->setModel(&places);
  auto* dock = new QDockWidget(QStringLiteral("Places"), window.get());
  dock->setWidget(list);
  window->addDockWidget(Qt::RightDockWidgetArea, dock);
  views::Navigator& navigator = window->navigator();
  QObject::connect(&navigator, &views::Navigator::traceChanged, &places, [&] {
    say("listing its places");
    places.show(*navigator.thread());
  });

  // As long as it answers, it says so.
  QTimer answering;
  QObject::connect(&answering, &QTimer::timeout, [] { say("answering"); });
  answering.start(20);
  QTimer::singleShot(200, window.get(), [&] {
    say("opening a long trace");
    window->setTrace(longTrace());
  });
  return QApplication::exec();
}
