#include "views/common/theme.h"

#include <QFontDatabase>
#include <QGuiApplication>
#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace traceback::views {

QColor mix(const QColor& a, const QColor& b, double share) {
  const auto channel = [share](double from, double to) { return from + (to - from) * share; };
  return QColor::fromRgbF(static_cast<float>(channel(a.redF(), b.redF())),
                          static_cast<float>(channel(a.greenF(), b.greenF())),
                          static_cast<float>(channel(a.blueF(), b.blueF())));
}

Theme::Theme(const QPalette& palette) {
  base = palette.color(QPalette::Base);
  text = palette.color(QPalette::Text);
  const QColor window = palette.color(QPalette::Window);
  dark = base.lightnessF() < 0.5F;
  const QColor green(dark ? 0x5f'c4'8d : 0x1a'8f'55);
  const QColor amber(dark ? 0xf2'b8'4b : 0xd4'8a'00);
  const QColor red(dark ? 0xff'6b'6b : 0xd0'2c'2c);
  const QColor blue(dark ? 0x6c'b2'f5 : 0x1f'6f'c9);
  dimText = mix(text, base, 0.30);
  faintText = mix(text, base, 0.48);
  separator = mix(window, text, dark ? 0.22 : 0.17);
  margin = mix(base, window, 0.65);
  executed = mix(base, green, dark ? 0.13 : 0.10);
  executedMark = green;
  current = mix(base, amber, dark ? 0.24 : 0.22);
  currentMark = amber;
  fault = mix(base, red, dark ? 0.30 : 0.17);
  faultMark = red;
  warningMark = amber;
  infoMark = blue;
}

QColor Theme::readable(const QColor& color) const {
  constexpr int kSteps = 20;
  for (int i = 0; i < kSteps; ++i) {
    const QColor candidate = mix(color, text, double(i) / kSteps);
    if (std::ranges::all_of(
            std::initializer_list<QColor>{base, executed, current, fault},
            [&](const QColor& behind) { return contrast(candidate, behind) >= kLeastContrast; }))
      return candidate;
  }
  return text;
}

double contrast(const QColor& a, const QColor& b) {
  const auto luminance = [](const QColor& color) {
    const auto linear = [](double channel) {
      return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
  };
  const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
  return (lighter + 0.05) / (darker + 0.05);
}

QFont codeFont() {
  QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
  const QFont general = QGuiApplication::font();
  if (general.pointSizeF() > 0) font.setPointSizeF(general.pointSizeF());
  font.setStyleHint(QFont::Monospace);
  return font;
}

}  // namespace traceback::views
