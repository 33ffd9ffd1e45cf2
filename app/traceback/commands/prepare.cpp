// traceback prepare: not for people. A process of a run that is about to use a file starts it, and waits.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>

#include "app/traceback/ahead.h"
#include "app/traceback/command.h"
#include "app/traceback/on_demand.h"
#include "app/traceback/own_interrupts.h"

namespace traceback::app {

namespace {

// What the program made of its process is not meant for ours.
void becomeOrdinary() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (fcntl(descriptor, F_GETFD) < 0) open("/dev/null", O_RDWR);
  // The progress of a program in the background must not stop it. Nothing but `traceback copy` is executed
  // that could inherit this, and with a handler instead writing would be tried for ever.
  setHandler(SIGTTOU, SIG_IGN);
  for (const auto resource :
       {RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_CPU, RLIMIT_NOFILE}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(resource, &limit);
  }
}

}  // namespace

void addPrepare(CLI::App& app, Action& chosen) {
  struct Call {
    std::string cache, file;
    bool program = false, ahead = false;
    std::int32_t threadSlot = format::kThreadSlot;
  };
  auto call = std::make_shared<Call>();
  auto* command = app.add_subcommand("prepare", "Started by a process that is about to load a file");
  command->group("");  // not listed
  command->add_option("--cache", call->cache)->required();
  command->add_flag("--program", call->program);
  command->add_flag("--ahead", call->ahead);  // and the libraries of a program, if it was not known
  command->add_option("--thread-slot", call->threadSlot);  // of the process's program
  command->add_option("FILE", call->file)->required();
  command->callback([call, &chosen] {
    chosen = [call] {
      becomeOrdinary();
      auto options = optionsFromEnvironment();
      const auto cache = InstrumentedCache::at(call->cache, cacheLimit());
      if (!options || !cache) return kBadCall;
      options->threadSlot = call->threadSlot;
      using Use = InstrumentedCache::Use;
      const Use use = call->program ? Use::Execute : Use::Load;
      // Silent: the reason is in the cache, and standard error is the program's.
      const auto known = prepare(*cache, call->file, use, *options);
      if (!known) return kBadInput;
      if (call->ahead && call->program && known->isNew)
        prepareLibraries(*cache, call->file, *options, [](const std::string&) { return true; });
      return kDone;
    };
  });
}

}  // namespace traceback::app
