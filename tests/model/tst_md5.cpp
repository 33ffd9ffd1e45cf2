// The checksum of sources.
#include <QCryptographicHash>
#include <QTest>

#include "model/md5.h"

using namespace traceback;

namespace {

model::Md5 sumOf(const QByteArray& bytes) {
  return model::md5(std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size()))));
}

}  // namespace

class Md5 : public QObject {
  Q_OBJECT

 private slots:
  // Of its appendix.
  void theSumsOfTheRfcComeOut_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("sum");
    QTest::newRow("nothing") << QByteArray("") << "d41d8cd98f00b204e9800998ecf8427e";
    QTest::newRow("a letter") << QByteArray("a") << "0cc175b9c0f1b6a831c399e269772661";
    QTest::newRow("words") << QByteArray("message digest") << "f96b697d7cb7938d525a2f31aaf161d0";
    QTest::newRow("two blocks")
        << QByteArray(
               "1234567890123456789012345678901234567890123456789012345678901234567890"
               "1234567890")
        << "57edf4a22be3c955ac49da2e2107b67a";
  }
  void theSumsOfTheRfcComeOut() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, sum);
    QCOMPARE(QString::fromStdString(model::text(sumOf(bytes))), sum);
  }

  void everyLengthIsPaddedRight() {
    QByteArray bytes;
    for (int i = 0; i < 300; ++i) {
      const QByteArray known = QCryptographicHash::hash(bytes, QCryptographicHash::Md5).toHex();
      QCOMPARE(QByteArray::fromStdString(model::text(sumOf(bytes))), known);
      bytes.append(static_cast<char>(i * 37));
    }
  }
};

QTEST_APPLESS_MAIN(Md5)
#include "tst_md5.moc"
