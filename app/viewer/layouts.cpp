#include "app/viewer/layouts.h"

#include <QCoreApplication>
#include <QDataStream>
#include <QDockWidget>
#include <QIODevice>
#include <QMainWindow>
#include <QSplitter>
#include <algorithm>

#include "app/viewer/settings.h"

namespace traceback::app {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(traceback::app::Layouts)
};

// A panel in an arrangement; `size` is its height, above and below the code at most. One that is `behind`
// shares the place of the one before it.
struct Place {
  const char* dock;
  Qt::DockWidgetArea area;
  int size;
  Layouts::Kind kind;
  bool behind = false;
};

using Kind = Layouts::Kind;
constexpr Place kPlaces[] = {
    {"threadsDock", Qt::LeftDockWidgetArea, 190, Kind::Fault},
    {"callsDock", Qt::LeftDockWidgetArea, 520, Kind::Fault},
    {"valuesDock", Qt::LeftDockWidgetArea, 520, Kind::Fault, true},

    {"waitsDock", Qt::TopDockWidgetArea, 260, Kind::Hang},
    {"callsDock", Qt::LeftDockWidgetArea, 520, Kind::Hang},
    {"lanesDock", Qt::BottomDockWidgetArea, 225, Kind::Hang},

    {"threadsDock", Qt::LeftDockWidgetArea, 190, Kind::Request},
    {"callsDock", Qt::LeftDockWidgetArea, 520, Kind::Request},
    {"valuesDock", Qt::LeftDockWidgetArea, 520, Kind::Request, true},
    {"waitsDock", Qt::BottomDockWidgetArea, 205, Kind::Request},
    {"lanesDock", Qt::BottomDockWidgetArea, 205, Kind::Request, true},
    {"allThreadsDock", Qt::BottomDockWidgetArea, 205, Kind::Request, true},
    {"historyDock", Qt::BottomDockWidgetArea, 205, Kind::Request, true},

    {"threadsDock", Qt::LeftDockWidgetArea, 190, Kind::Killed},
    {"callsDock", Qt::LeftDockWidgetArea, 520, Kind::Killed},
    {"lanesDock", Qt::BottomDockWidgetArea, 225, Kind::Killed},
    {"historyDock", Qt::BottomDockWidgetArea, 225, Kind::Killed, true},
};
constexpr int kSideWidth = 280;
constexpr int kCodeShare = 11, kTraceShare = 9;

}  // namespace

Layouts::Kind Layouts::kindFor(model::TraceReason reason) {
  switch (reason) {
    case model::TraceReason::Hang:
      return Kind::Hang;
    case model::TraceReason::UserRequest:
    case model::TraceReason::Api:
    case model::TraceReason::Policy:
      return Kind::Request;
    case model::TraceReason::Recovered:
      return Kind::Killed;
    case model::TraceReason::Fault:
    case model::TraceReason::Abort:
    case model::TraceReason::Unknown:
      break;
  }
  return Kind::Fault;
}

QString Layouts::title(Kind kind) {
  switch (kind) {
    case Kind::Fault:
      return Words::tr("Layout for a &Fault");
    case Kind::Hang:
      return Words::tr("Layout for a &Hang");
    case Kind::Request:
      return Words::tr("Layout for a Snap on Re&quest");
    case Kind::Killed:
      break;
  }
  return Words::tr("Layout for a &Killed Process");
}

QString Layouts::word(Kind kind) {
  static constexpr const char* kWords[] = {"fault", "hang", "request", "killed"};
  return QString::fromLatin1(kWords[static_cast<std::size_t>(kind)]);
}

QString Layouts::name(Kind kind) { return QStringLiteral("layout-") + word(kind); }

Layouts::Layouts(QMainWindow& host, QSplitter& splitter, const Panels& panels, Settings* settings)
    : m_host(&host), m_splitter(&splitter), m_panels(&panels), m_settings(settings) {
  m_host->setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
  if (m_settings != nullptr)
    for (const Kind kind : kKinds) m_kept[static_cast<std::size_t>(kind)] = m_settings->state(name(kind));
  arrange(m_current);
  restore(m_kept[static_cast<std::size_t>(m_current)]);
}

QByteArray Layouts::state() const {
  QByteArray bytes;
  QDataStream stream(&bytes, QIODevice::WriteOnly);
  stream << m_host->saveState() << m_splitter->saveState();
  return bytes;
}

bool Layouts::restore(const QByteArray& state) {
  QDataStream stream(state);
  QByteArray docks, splitter;
  stream >> docks >> splitter;
  if (state.isEmpty() || stream.status() != QDataStream::Ok || !m_host->restoreState(docks)) return false;
  m_splitter->restoreState(splitter);
  closeRequested();
  return true;
}

// Those that open when there is something in them.
void Layouts::closeRequested() {
  for (const PanelKind& kind : panelKinds())
    if (kind.onRequest) m_panels->dock(QString::fromLatin1(kind.name))->hide();
}

void Layouts::arrange(Kind kind) {
  for (const PanelKind& panel : panelKinds()) {
    QDockWidget* dock = m_panels->dock(QString::fromLatin1(panel.name));
    dock->setFloating(false);
    m_host->addDockWidget(panel.area, dock);
    dock->hide();
  }
  QDockWidget* before = nullptr;
  QDockWidget* front = nullptr;  // of those that share a place
  QDockWidget* side = nullptr;
  QList<QDockWidget*> docks, fronts;
  QList<int> sizes;
  for (const Place& place : kPlaces) {
    QDockWidget* dock = place.kind == kind ? m_panels->dock(QString::fromLatin1(place.dock)) : nullptr;
    if (dock == nullptr) continue;
    m_host->addDockWidget(place.area, dock);
    dock->show();
    if (place.behind && before != nullptr) {
      m_host->tabifyDockWidget(before, dock);
      if (!fronts.contains(front)) fronts.append(front);
    } else {
      front = dock;
      const bool alone = &place + 1 == std::end(kPlaces) || !(&place + 1)->behind;
      const bool beside = place.area == Qt::LeftDockWidgetArea;
      docks.append(dock);
      // Panels with few threads leave the rest to the code.
      sizes.append(alone && !beside ? std::min(place.size, dock->sizeHint().height()) : place.size);
    }
    if (place.area == Qt::LeftDockWidgetArea) side = dock;
    before = dock;
  }
  for (QDockWidget* each : fronts) each->raise();
  m_host->resizeDocks(docks, sizes, Qt::Vertical);
  if (side != nullptr) m_host->resizeDocks({side}, {kSideWidth}, Qt::Horizontal);
  const int height = std::max(m_splitter->height(), 100);
  m_splitter->setSizes(
      {height * kCodeShare / (kCodeShare + kTraceShare), height * kTraceShare / (kCodeShare + kTraceShare)});
}

void Layouts::use(Kind kind) {
  if (kind == m_current) return;
  keep();
  m_current = kind;
  arrange(kind);
  restore(m_kept[static_cast<std::size_t>(kind)]);
}

void Layouts::keep() {
  m_kept[static_cast<std::size_t>(m_current)] = state();
  if (m_settings != nullptr) m_settings->setState(name(m_current), state());
}

void Layouts::reset() {
  arrange(m_current);
  keep();
}

}  // namespace traceback::app
