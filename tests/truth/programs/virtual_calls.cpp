// Virtual calls: overriding, calls of the base, several bases, a destructor, pure interfaces.
#include <cstdio>
#include <memory>
#include <vector>

namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual int area() const = 0;
  virtual int corners() const { return 0; }
};
struct Named {
  virtual ~Named() = default;
  virtual char name() const { return '?'; }
};
struct Square : Shape, Named {
  explicit Square(int side) : m_side(side) {}
  int area() const override { return m_side * m_side; }
  int corners() const override { return 4; }
  char name() const override { return 'S'; }
  int m_side;
};
struct Cut : Square {
  using Square::Square;
  int area() const override { return Square::area() - corners(); }
  int corners() const override { return Square::corners() * 2; }
};
struct Disc final : Shape {
  explicit Disc(int radius) : m_radius(radius) {}
  ~Disc() override { std::printf("disc %d is gone\n", m_radius); }
  int area() const override { return 3 * m_radius * m_radius; }
  int m_radius;
};

template <typename T>
struct Doubled : T {
  using T::T;
  int area() const override { return 2 * T::area(); }
};

}  // namespace

int main() {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 1; i <= 8; ++i) {
    switch (i % 4) {
      case 0:
        shapes.push_back(std::make_unique<Square>(i));
        break;
      case 1:
        shapes.push_back(std::make_unique<Cut>(i));
        break;
      case 2:
        shapes.push_back(std::make_unique<Disc>(i));
        break;
      default:
        shapes.push_back(std::make_unique<Doubled<Cut>>(i));
    }
  }
  int area = 0, corners = 0;
  for (const auto& shape : shapes) {
    area += shape->area();
    corners += shape->corners();
    if (const auto* named = dynamic_cast<const Named*>(shape.get())) std::printf("%c", named->name());
  }
  std::printf("\narea %d, corners %d\n", area, corners);
  return 0;
}
