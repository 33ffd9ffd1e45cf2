// How the panels stand around the code and the trace: an arrangement for each kind of snap, for what one
// wants to see of a fault, of a hang and of a process that was killed is not the same. What the user changes
// in one is kept for snaps of that kind.
#pragma once

#include <QByteArray>
#include <QString>
#include <array>
#include <functional>

#include "app/viewer/panels.h"
#include "model/trace.h"

class QMainWindow;
class QSplitter;

namespace traceback::app {

class Settings;

class Layouts {
 public:
  enum class Kind : std::uint8_t { Fault, Hang, Request, Killed };
  static constexpr std::array kKinds = {Kind::Fault, Kind::Hang, Kind::Request, Kind::Killed};
  static Kind kindFor(model::TraceReason reason);
  static QString title(Kind kind);
  static QString word(Kind kind);  // "fault", on the command line
  static QString name(Kind kind);  // by which its keys and its state are remembered

  // All of it outlives this. Without settings what the user changes is kept as long as this is.
  Layouts(QMainWindow& host, QSplitter& splitter, const Panels& panels, Settings* settings);

  Kind current() const { return m_current; }
  // Keeps the present one, and arranges the panels as the user left them for that kind.
  void use(Kind kind);
  // Keeps the present one for the next time.
  void keep();
  // The present one as it is at first.
  void reset();

 private:
  QByteArray state() const;
  bool restore(const QByteArray& state);
  void arrange(Kind kind);
  void closeRequested();

  QMainWindow* m_host;
  QSplitter* m_splitter;
  const Panels* m_panels;
  Settings* m_settings;
  Kind m_current = Kind::Fault;
  std::array<QByteArray, kKinds.size()> m_kept;
};

}  // namespace traceback::app
