// The product's own icons, drawn in the palette's text colour at whatever size and scale is asked for.
#pragma once

#include <QColor>
#include <QIcon>
#include <QString>

class QPainter;
class QRectF;

namespace traceback::views {

// `name` is that of a file in resources/icons, without ".svg". Follows the palette as it changes.
QIcon icon(const QString& name);
// The same in a colour of its own.
QIcon icon(const QString& name, const QColor& color);
void paintIcon(QPainter& painter, const QRectF& where, const QString& name, const QColor& color);

// The program's icon, in its own colours.
QIcon programIcon();

}  // namespace traceback::views
