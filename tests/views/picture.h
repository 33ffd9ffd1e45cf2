// Pictures of windows, to be looked at: kept in the folder TRACEBACK_PICTURES of the environment, if that is
// set. QT_SCALE_FACTOR makes them larger.
#pragma once

#include <QImage>
#include <QPixmap>
#include <QString>
#include <QTest>
#include <QWidget>

namespace traceback::tests {

inline void keep(QWidget& window, const QString& name) {
  QTest::qWait(150);  // colours of the source come in slices
  const QImage image = window.grab().toImage();
  QVERIFY(!image.isNull());
  const QString folder = qEnvironmentVariable("TRACEBACK_PICTURES");
  if (!folder.isEmpty()) QVERIFY(image.save(QStringLiteral("%1/%2.png").arg(folder, name)));
}

// Of a part of the window, 0 to 1, on average.
inline double lightness(QWidget& window, const QWidget* part) {
  const QImage image = window.grab(QRect(part->mapTo(&window, QPoint(0, 0)), part->size())).toImage();
  double sum = 0;
  int samples = 0;
  for (int y = 0; y < image.height(); y += 7)
    for (int x = 0; x < image.width(); x += 7, ++samples) sum += image.pixelColor(x, y).lightnessF();
  return sum / samples;
}

}  // namespace traceback::tests
