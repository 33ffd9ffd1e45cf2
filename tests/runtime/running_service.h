// The service, running, for tests of what it does.
#pragma once

#include <unistd.h>

#include <QTest>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/collect/files/process_folder.h"
#include "runtime/collect/service/service_client.h"
#include "runtime/collect/service/service_message.h"
#include "traced_run.h"

namespace traceback::testing {

// The program itself, with the ring folder of a traced run.
class RunningService {
 public:
  explicit RunningService(const TracedRun& traced, const QString& home = QStringLiteral("/nowhere"),
                          const QString& errorsTo = QString())
      : m_rings(traced.ringFolder()) {
    if (!errorsTo.isEmpty()) m_process.setStandardErrorFile(errorsTo);
    auto environment = QProcessEnvironment::systemEnvironment();
    const QString folder = QString::fromStdString(m_rings.parent_path().string());
    for (const char* name : {"XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"})
      environment.insert(name, folder);
    environment.insert("HOME", home);
    m_process.setProcessEnvironment(environment);
    m_process.start(TRACEBACKD, QStringList());
    m_process.waitForStarted();
  }
  ~RunningService() {
    m_process.terminate();
    m_process.waitForFinished();
  }
  bool answers() const {
    return QTest::qWaitFor([this] { return std::filesystem::exists(socket()) && summary().has_value(); },
                           30'000);
  }
  std::optional<collect::ServiceConnection> connect() const {
    auto made = collect::ServiceConnection::open(m_rings);
    return made ? std::optional(std::move(*made)) : std::nullopt;
  }
  std::vector<format::ServiceState> states() const { return ask().first; }
  std::optional<format::ServiceSummary> summary() const { return ask().second; }
  bool knows(unsigned processes) const {
    return QTest::qWaitFor([&] { return states().size() == processes; }, 30'000);
  }
  std::filesystem::path socket() const { return collect::serviceSocket(m_rings); }
  QProcess& process() { return m_process; }

 private:
  std::pair<std::vector<format::ServiceState>, std::optional<format::ServiceSummary>> ask() const {
    std::vector<format::ServiceState> states;
    const auto service = connect();
    if (!service || !service->send(collect::Question{})) return {};
    while (const auto message = service->receive(std::chrono::seconds(10))) {
      if (const auto* end = std::get_if<format::ServiceSummary>(&*message)) return {states, *end};
      if (const auto* state = std::get_if<format::ServiceState>(&*message)) states.push_back(*state);
    }
    return {};
  }
  std::filesystem::path m_rings;
  QProcess m_process;
};

inline format::ServiceProcess someProcess() {
  format::ServiceProcess process{};
  process.pid = static_cast<std::uint32_t>(::getpid());
  process.start = collect::startOfProcess(::getpid()).value_or(0);
  collect::setField(process.group, "shop");
  collect::setField(process.program, "test");
  collect::setField(process.snapFolder, "/nowhere");
  return process;
}

}  // namespace traceback::testing
