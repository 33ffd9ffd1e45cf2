#include "views/common/icons.h"

#include <QFile>
#include <QGuiApplication>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>
#include <QPixmap>
#include <QSvgRenderer>

// Resources of a static library are only linked in if somebody asks for them by name.
static void initResources() { Q_INIT_RESOURCE(viewer); }

namespace traceback::views {
namespace {

// The colour that the files are drawn in, which is replaced.
constexpr const char* kInk = "#232629";

QByteArray drawing(const QString& name) {
  static QHash<QString, QByteArray> cache;
  if (const auto found = cache.constFind(name); found != cache.constEnd()) return *found;
  initResources();
  QFile file(QStringLiteral(":/icons/%1.svg").arg(name));
  QByteArray bytes;
  if (file.open(QIODevice::ReadOnly)) bytes = file.readAll();
  cache.insert(name, bytes);
  return bytes;
}

// Qt has changed its mind about the size that an engine is asked for: device pixels, or what they are scaled
// from. This asks which it is.
bool askedForDevicePixels() {
  struct Probe : QIconEngine {
    void paint(QPainter*, const QRect&, QIcon::Mode, QIcon::State) override {}
    QIconEngine* clone() const override { return new Probe(*this); }
    QPixmap scaledPixmap(const QSize& size, QIcon::Mode, QIcon::State, qreal) override {
      asked = size.width();
      return QPixmap(size);
    }
    int asked = 0;
  };
  auto* probe = new Probe;
  const QIcon owner(probe);
  owner.pixmap(QSize(16, 16), 2.0);
  return probe->asked == 32;
}

class Engine : public QIconEngine {
 public:
  Engine(QString name, QColor color) : m_name(std::move(name)), m_color(color) {}

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
    paintIcon(*painter, rect, m_name, color(mode));
  }

  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    return scaledPixmap(size, mode, state, 1.0);
  }

  QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State, qreal scale) override {
    static const bool kDevicePixels = askedForDevicePixels();
    const QSize device = kDevicePixels ? size : (QSizeF(size) * scale).toSize();
    QPixmap result(device);
    result.fill(Qt::transparent);
    QPainter painter(&result);
    paintIcon(painter, QRectF(QPointF(0, 0), device), m_name, color(mode));
    painter.end();
    if (!kDevicePixels) result.setDevicePixelRatio(scale);
    return result;
  }

  QIconEngine* clone() const override { return new Engine(*this); }

 private:
  QColor color(QIcon::Mode mode) const {
    const QPalette palette = QGuiApplication::palette();
    const auto group = mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active;
    if (m_color.isValid() && mode != QIcon::Disabled) return m_color;
    if (mode == QIcon::Selected) return palette.color(group, QPalette::HighlightedText);
    return palette.color(group, QPalette::WindowText);
  }

  QString m_name;
  QColor m_color;
};

}  // namespace

QIcon icon(const QString& name) { return QIcon(new Engine(name, QColor())); }

QIcon icon(const QString& name, const QColor& color) { return QIcon(new Engine(name, color)); }

void paintIcon(QPainter& painter, const QRectF& where, const QString& name, const QColor& color) {
  QByteArray bytes = drawing(name);
  bytes.replace(kInk, color.name().toLatin1());
  QSvgRenderer renderer(bytes);
  if (!renderer.isValid()) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setOpacity(painter.opacity() * color.alphaF());
  renderer.render(&painter, where);
  painter.restore();
}

QIcon programIcon() {
  initResources();
  return QIcon(QStringLiteral(":/icons/io.github.traceback.Viewer.svg"));
}

}  // namespace traceback::views
