// What a site file may say.
#include <QTest>
#include <string>

#include "runtime/collect/rules/site_rules.h"

using namespace traceback;
using namespace std::chrono_literals;

class SiteRulesTest : public QObject {
  Q_OBJECT
 private slots:
  void theSitesRulesAreReadAndAWrongLineIsNamed() {
    collect::SiteRules rules;
    QVERIFY(collect::addSiteRules("# nothing\n\n", rules).empty());
    QVERIFY(
        collect::addSiteRules("redact environment paths\nredact stacks # more\nfaults 3/1d\nkeep rings 2h\n"
                              "group shop server db\nsnap stall 30s server\nend stall 2m db net.worker\n"
                              "profile 1m server\nprofile 2h db cc1\n",
                              rules)
            .empty());
    QCOMPARE(rules.redaction, collect::kRedactEnvironment | collect::kRedactPaths | collect::kRedactStacks);
    QCOMPARE(rules.faultCount, 3u);
    QVERIFY(rules.faultTime == 24h && rules.keepRings == 2h);
    QCOMPARE(rules.groupOf("db"), std::string("shop"));
    QVERIFY(rules.groupOf("other").empty());
    QCOMPARE(rules.stalls.size(), 2u);
    QVERIFY(!rules.stalls[0].end && rules.stalls[0].patience == 30s && rules.stalls[0].thread.empty());
    QVERIFY(rules.stalls[1].end && rules.stalls[1].thread == "net.worker");
    QVERIFY(rules.profiledAfter("server") == 60s && rules.profiledAfter("cc1") == 2h);
    QVERIFY(!rules.profiledAfter("other"));
    for (const char* line : {"redact",
                             "redact passwords",
                             "redact environment passwords",
                             "faults",
                             "faults 3",
                             "faults 3/0s",
                             "faults x/1d",
                             "faults 3/1d more",
                             "keep",
                             "keep rings",
                             "keep snaps 1d",
                             "keep rings 1w",
                             "group",
                             "group shop",
                             "group a/b server",
                             "group ................................ server",
                             "group shop bin/server",
                             "snap",
                             "snap stall",
                             "snap stall 30s",
                             "snap stall 0s server",
                             "snap stall 30 server",
                             "snap hang 30s server",
                             "end stall 30s server a.name.too.long.for.one",
                             "end stall 30s server a b",
                             "profile",
                             "profile 1m",
                             "profile server",
                             "profile 0s server",
                             "profile 1m bin/server",
                             "frobnicate",
                             "\x01"}) {
      collect::SiteRules none;
      const auto problems =
          collect::addSiteRules(std::string("faults 1/1h\n") + line + "\nredact paths\n", none);
      QVERIFY2(problems.size() == 1 && problems[0].line == 2 && !problems[0].reason.empty(), line);
      QVERIFY2(none.redaction == collect::kRedactPaths && none.faultCount == 1, line);
      QVERIFY2(none.groups.empty() && none.stalls.empty() && none.keepRings == 0s && none.profiles.empty(),
               line);
    }
  }
};

QTEST_GUILESS_MAIN(SiteRulesTest)
#include "site_rules_test.moc"
