// The colours that carry meaning, mixed from the palette so that they sit well on light and dark alike, and
// the fonts. Colour never stands alone: each has a shape or a word beside it.
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>

namespace traceback::views {

struct Theme {
  explicit Theme(const QPalette& palette);

  bool dark;
  QColor base, text;
  QColor dimText;      // second-rank text, still readable
  QColor faintText;    // line numbers
  QColor separator;    // hairlines between panes
  QColor margin;       // background of margins and strips
  QColor executed;     // lines that ran in this call
  QColor executedMark;
  QColor current;      // the line where the user stands
  QColor currentMark;
  QColor fault;
  QColor faultMark;
  QColor warningMark;  // gaps, untraced calls
  QColor infoMark;     // inlined, caught

  // A colour of text, brought nearer to the ordinary one until it can be read on whatever is behind a line.
  QColor readable(const QColor& color) const;
};

// How two colours differ in brightness, 1 to 21 (WCAG 2.2, "contrast ratio").
double contrast(const QColor& a, const QColor& b);
inline constexpr double kLeastContrast = 3.5;

// `share` of b in a, 0 to 1.
QColor mix(const QColor& a, const QColor& b, double share);

// The system's fixed-width font at the size of the interface's own.
QFont codeFont();

}  // namespace traceback::views
