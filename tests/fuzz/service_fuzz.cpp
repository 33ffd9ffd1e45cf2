// What anybody of the same user may send to the service, and it to them; and the site file, which anybody may
// write.
#include "runtime/collect/rules/site_rules.h"
#include "runtime/collect/service/service_message.h"
#include "tests/fuzz/fuzz_target.h"

using namespace traceback;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> packet(data, data + size);  // where reading beyond it is noticed
  collect::SiteRules rules;
  for (const auto& problem :
       collect::addSiteRules(std::string_view(reinterpret_cast<const char*>(data), size), rules))
    if (problem.line == 0 || problem.reason.empty()) __builtin_trap();
  const auto message = collect::decode(packet);
  if (!message) return 0;
  // What was understood is said again in the same way.
  const collect::Bytes said = collect::encode(*message);
  const auto again = collect::decode(said);
  if (!again || again->index() != message->index() || collect::encode(*again) != said) __builtin_trap();
  if (said.size() != packet.size() || said.size() > collect::kMostMessage) __builtin_trap();
  return 0;
}
