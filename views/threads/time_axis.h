// Time in a picture: which clock readings are in sight, and where each is.
#pragma once

#include <QCoreApplication>
#include <QList>
#include <QString>
#include <optional>

#include "model/trace.h"

namespace traceback::views {

class TimeAxis {
  Q_DECLARE_TR_FUNCTIONS(traceback::views::TimeAxis)

 public:
  TimeAxis() = default;
  // From the first to the last moment that the trace tells of.
  explicit TimeAxis(const model::Trace& trace);

  // False if the trace tells of no time at all.
  bool valid() const { return m_last > m_first; }
  bool showsAll() const { return m_from <= m_first && m_to >= m_last; }
  double from() const { return m_from; }  // ticks
  double to() const { return m_to; }

  // The width in sight is `width` pixels.
  double xOf(model::Ticks time, double width) const;
  model::Ticks timeAt(double x, double width) const;

  void showAll();
  // By a factor, around what is at `x`.
  void zoom(double factor, double x, double width);
  // By a share of what is in sight.
  void pan(double share);
  // Moves no more than needed for [from, to], or its middle if it is wider than what is in sight.
  void reveal(double from, double to);

  struct Mark {
    double x;
    QString text;  // "-1.5 s", from the end of the trace
  };
  // About every `spacing` pixels, at round numbers.
  QList<Mark> marks(const model::Trace& trace, double width, double spacing) const;
  // What the marks count, in words.
  QString unit(const model::Trace& trace) const;

 private:
  // How long a tick is; nothing without clocks that tell.
  std::optional<double> nanosecondsATick(const model::Trace& trace) const;
  void clamp();

  double m_first = 0, m_last = 0;  // of the trace
  double m_from = 0, m_to = 0;     // in sight
};

}  // namespace traceback::views
