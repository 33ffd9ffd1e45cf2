// What is said to the service and by it, and what is no message.
#include <QTest>
#include <algorithm>
#include <cstring>

#include "running_service.h"

using namespace traceback;
using namespace traceback::testing;

namespace {

std::vector<collect::Message> oneOfEach() {
  collect::GroupEvent event;
  event.about.id = 7;
  collect::setField(event.about.group, "shop");
  event.members.resize(2);
  event.members[1].pid = 4711;
  collect::setField(event.members[1].snap, "/snaps/shop-4711.tbsnap");
  format::ServiceGroup group{};
  collect::setField(group.group, "shop");
  return {collect::BreakDown{someProcess()},
          group,
          event,
          collect::Question{},
          format::ServiceState{someProcess(), 1, 2, 3, 0},
          format::ServiceSummary{1, 2, 3, 4, 0},
          format::ServiceRefusal{1, 2}};
}

}  // namespace

class ServiceMessageTest : public QObject {
  Q_OBJECT
 private slots:
  void everyMessageComesBackAsItWasSent() {
    for (const collect::Message& message : oneOfEach()) {
      const collect::Bytes packet = collect::encode(message);
      const auto decoded = collect::decode(packet);
      QVERIFY2(decoded, decoded ? "" : decoded.error().text.c_str());
      QCOMPARE(decoded->index(), message.index());
      QCOMPARE(collect::encode(*decoded), packet);
    }
  }

  void whatIsNoMessageIsRefused() {
    for (const collect::Message& message : oneOfEach()) {
      collect::Bytes packet = collect::encode(message);
      for (std::size_t size = 0; size < packet.size(); ++size)
        QVERIFY(!collect::decode(std::span(packet).first(size)));
      packet.push_back(0);
      QVERIFY(!collect::decode(packet));
      packet.pop_back();
      packet[4] ^= 2;
      QCOMPARE(collect::decode(packet).error().reason, format::RefusalReason::OtherVersion);
    }
    collect::BreakDown endless{someProcess()};
    std::ranges::fill(endless.program, std::uint8_t{'x'});
    QVERIFY(!collect::decode(collect::encode(endless)));
    collect::BreakDown escape{someProcess()};
    collect::setField(escape.program, "a\x1b[2Jb");
    QVERIFY(!collect::decode(collect::encode(escape)));
    collect::BreakDown nobody{someProcess()};
    nobody.pid = 0;
    QVERIFY(!collect::decode(collect::encode(nobody)));
    collect::GroupEvent event;
    collect::Bytes packet = collect::encode(event);
    const std::uint32_t many = 0xFFFF'FFFF;
    std::memcpy(packet.data() + sizeof(format::MessageHeader) + offsetof(format::ServiceEvent, memberCount),
                &many, sizeof many);
    QVERIFY(!collect::decode(packet));
  }
};

QTEST_GUILESS_MAIN(ServiceMessageTest)
#include "service_message_test.moc"
