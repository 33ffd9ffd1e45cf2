// Which file is mapped at an address (runtime/inject/kernel/files.h), as the kernel's list of mappings has
// it.
#define QT_NO_KEYWORDS  // the runtime has parameters of that name

#include <QFile>
#include <QTest>
#include <vector>

#include "runtime/format/mappings.h"
#include "runtime/inject/kernel/files.h"

using namespace traceback;

namespace {

QByteArray mappedFile(std::uint64_t start, std::uint64_t end, std::size_t size = 1024) {
  std::vector<char> text(size, 'x');
  inject::mappedFile(start, end, text.data(), size);
  return text.data();
}

}  // namespace

class MappedFileTest : public QObject {
  Q_OBJECT
  std::vector<format::Mapping> m_mappings;

 private Q_SLOTS:
  void initTestCase() {
    QFile maps(QStringLiteral("/proc/self/maps"));
    QVERIFY(maps.open(QIODevice::ReadOnly));
    for (format::Mapping& each : format::parseMappings(maps.readAll().toStdString()))
      if (each.isFile() && each.executable) m_mappings.push_back(std::move(each));
    QVERIFY(m_mappings.size() > 3);
  }

  void itsNameIsFoundByItsBounds() {
    for (const format::Mapping& each : m_mappings)
      QCOMPARE(mappedFile(each.start, each.end), QByteArray::fromStdString(each.path));
  }
  void itsNameIsFoundThoughItEndsElsewhere() {
    for (const format::Mapping& each : m_mappings) {
      QCOMPARE(mappedFile(each.start, each.end + 4096), QByteArray::fromStdString(each.path));
      QCOMPARE(mappedFile(each.end - 1, each.end), QByteArray::fromStdString(each.path));
    }
  }
  void whereNoFileIsThereIsNoName() {
    const std::vector<char> own(100'000);
    const auto at = reinterpret_cast<std::uint64_t>(own.data());
    QCOMPARE(mappedFile(at, at + 4096), QByteArray());
    QCOMPARE(mappedFile(4096, 8192), QByteArray());
  }
  void aNameThatIsTooLongIsNone() {
    const format::Mapping& first = m_mappings.front();
    QCOMPARE(mappedFile(first.start, first.end, first.path.size()), QByteArray());
    QCOMPARE(mappedFile(first.start, first.end + 4096, first.path.size()), QByteArray());
  }
};

QTEST_GUILESS_MAIN(MappedFileTest)
#include "mapped_file_test.moc"
