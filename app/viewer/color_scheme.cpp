#include "app/viewer/color_scheme.h"

#include <QApplication>
#include <QPalette>
#include <QStyleFactory>

namespace traceback::app {
namespace {

struct Shades {
  QColor window, base, alternate, button, text, dim, hint, highlight, highlightedText, link, toolTip;
};

QPalette paletteOf(const Shades& shades) {
  QPalette palette(shades.button, shades.window);
  palette.setColor(QPalette::Window, shades.window);
  palette.setColor(QPalette::Base, shades.base);
  palette.setColor(QPalette::AlternateBase, shades.alternate);
  palette.setColor(QPalette::Button, shades.button);
  for (const auto role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText}) {
    palette.setColor(role, shades.text);
    if (role != QPalette::ToolTipText) palette.setColor(QPalette::Disabled, role, shades.dim);
  }
  palette.setColor(QPalette::PlaceholderText, shades.hint);
  palette.setColor(QPalette::Highlight, shades.highlight);
  palette.setColor(QPalette::HighlightedText, shades.highlightedText);
  palette.setColor(QPalette::Link, shades.link);
  palette.setColor(QPalette::ToolTipBase, shades.toolTip);
  return palette;
}

}  // namespace

void useColorScheme(ColorScheme scheme) {
  if (scheme == ColorScheme::System) return;
  // Only this style takes all of its colours from the palette.
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  const Shades light{.window = QColor(0xf3f4f6),
                     .base = QColor(0xffffff),
                     .alternate = QColor(0xf7f8fa),
                     .button = QColor(0xf3f4f6),
                     .text = QColor(0x1f2328),
                     .dim = QColor(0x9aa1a9),
                     .hint = QColor(0x6a727b),
                     .highlight = QColor(0x2f6fb2),
                     .highlightedText = QColor(0xffffff),
                     .link = QColor(0x1f6fc9),
                     .toolTip = QColor(0xffffff)};
  const Shades dark{.window = QColor(0x2a2d31),
                    .base = QColor(0x1f2225),
                    .alternate = QColor(0x24272b),
                    .button = QColor(0x33373c),
                    .text = QColor(0xe3e5e8),
                    .dim = QColor(0x7c838b),
                    .hint = QColor(0x989fa7),
                    .highlight = QColor(0x2f5f94),
                    .highlightedText = QColor(0xffffff),
                    .link = QColor(0x6cb2f5),
                    .toolTip = QColor(0x33373c)};
  QApplication::setPalette(paletteOf(scheme == ColorScheme::Dark ? dark : light));
}

}  // namespace traceback::app
