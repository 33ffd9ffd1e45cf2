#include "model/text_format.h"

#include <array>
#include <csignal>
#include <format>
#include <iterator>
#include <span>

#include "model/utf8.h"

namespace traceback::model {

namespace {

struct FlagName {
  std::uint16_t flag;
  std::string_view key, text;  // in JSON; for people, empty if they do not care
};
constexpr FlagName kFlagNames[] = {
    {kEntryFault, "fault", "fault"},
    {kEntryInlined, "inlined", "inlined"},
    {kEntryUntracedCall, "untraced-call", "calls untraced code"},
    {kEntryInHandler, "in-handler", ""},
    {kEntryTailCall, "tail-call", "tail call"},
    {kEntryPartial, "partial", "cut short"},
    {kEntryInterrupted, "interrupted", "unwound"},
    {kEntryCatch, "catch", "landing pad"},
    {kEntryAtOtherFault, "other-fault", "about here when another thread faulted"},
    {kEntryAgain, "again", "thrown again"},
    {kEntryResumed, "resumed", "goes on"},
};

struct CauseName {
  std::string_view key, text;
};
// By GapCause.
constexpr CauseName kCauses[] = {
    {"unknown", "what ran here is not known"},
    {"overwritten", "older records were overwritten"},
    {"damaged", "records that no path explains"},
    {"missing-map", "the map of the module is missing"},
    {"handler-too-deep", "signal handlers were nested too deeply to record"},
    {"handler-not-wrapped", "a signal handler ran that could not be told apart"},
    {"path-unknown", "execution may have gone on beyond what is shown"},
    {"not-read", "older records have not been read yet"},
    {"forked", "forked in a signal handler: the parent recorded what went before"},
    {"no-ring", "the thread ran before, but there was no ring for it"},
    {"shared", "another thread had the same thread-local storage, so neither was recorded"},
};

// By SyncCause.
constexpr CauseName kSyncs[] = {
    {"unknown", "sync"},
    {"thread-start", "the thread began"},
    {"thread-end", "the thread ended"},
    {"module-load", "a module was loaded"},
    {"module-unload", "a module was unloaded"},
    {"fork", "the process forked"},
    {"thread-create", "a thread was made"},
    {"thread-join", "waits for the end of a thread"},
    {"snap", "the snap was made"},
    {"wait-condition", "waits for a condition"},
    {"wait-barrier", "waits at a barrier"},
    {"wait-sleep", "sleeps"},
    {"wait-poll", "waits for files or connections"},
    {"wait-child", "waits for a child process"},
};

// As Linux on x86-64 numbers them (signal(7)).
constexpr std::array<std::string_view, 32> kSignals = {
    "",          "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
    "SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
    "SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
    "SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS"};

const CauseName& causeOf(std::uint32_t cause) { return kCauses[cause < std::size(kCauses) ? cause : 0]; }
const CauseName& syncOf(std::uint32_t cause) { return kSyncs[cause < std::size(kSyncs) ? cause : 0]; }
static_assert(std::size(kSyncs) == static_cast<std::size_t>(SyncCause::WaitChild) + 1);

std::string_view lastPart(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// " [fault, cut short]"
std::string remarks(const Entry& entry) {
  std::string text;
  for (const FlagName& name : kFlagNames) {
    if (!(entry.flags & name.flag) || name.text.empty()) continue;
    // Every line of an inlined function is inlined: said once, where it begins.
    if (name.flag == kEntryInlined && entry.kind != EntryKind::Call) continue;
    const bool uncaught = name.flag == kEntryFault && entry.kind == EntryKind::Exception;
    text += text.empty() ? " [" : ", ";
    text += uncaught ? "not caught" : name.text;
  }
  return text.empty() ? text : text + ']';
}

std::string withPlace(std::string text, const std::string& place) {
  return place.empty() ? text : std::move(text) + "  " + place;
}

void addFlags(std::string& json, const Entry& entry) {
  bool any = false;
  for (const FlagName& name : kFlagNames) {
    if (!(entry.flags & name.flag)) continue;
    json += any ? "," : ",\"flags\":[";
    json += jsonString(name.key);
    any = true;
  }
  if (any) json += ']';
}

// " std::out_of_range: what it said"
std::string exceptionText(const Trace& trace, const Entry& exception) {
  const auto type = trace.exceptionType(exception.detail);
  const auto said = trace.thrownText(exception);
  return (type.empty() ? std::string() : ' ' + printable(type)) +
         (said.empty() ? std::string() : ": " + printable(said));
}

}  // namespace

std::string_view kindName(EntryKind kind) {
  switch (kind) {
    case EntryKind::Line:
      return "line";
    case EntryKind::Call:
      return "call";
    case EntryKind::Return:
      return "return";
    case EntryKind::Exception:
      return "exception";
    case EntryKind::Signal:
      return "signal";
    case EntryKind::Sync:
      return "sync";
    case EntryKind::Gap:
      return "gap";
  }
  return "gap";
}

std::string abortText(const Trace::Summary& summary) {
  if (summary.faultSignal() != SIGABRT) return {};
  if (!summary.uncaught) return printable(summary.abortMessage);
  const std::string& type = *summary.uncaught;
  const std::string& what = summary.uncaughtMessage;
  return (type.empty() ? std::string("a C++ exception") : printable(type)) + " was thrown and not caught" +
         (what.empty() ? what : ": " + printable(what));
}

std::string signalName(std::uint32_t signal) {
  if (signal > 0 && signal < kSignals.size()) return std::string(kSignals[signal]);
  return std::format("signal {}", signal);
}

std::string_view gapText(std::uint32_t cause) { return causeOf(cause).text; }

std::string_view syncText(std::uint32_t cause) { return syncOf(cause).text; }

std::string placeText(const Trace& trace, const Entry& entry) {
  const SourceFile* file = trace.file(entry.file);
  if (file && entry.line != 0) return std::format("{}:{}", printable(lastPart(file->path)), entry.line);
  const Module* module = trace.module(entry.module);
  if (!module) return {};
  return std::format("{}+{:#x}", printable(module->name), entry.address.value);
}

std::string functionText(const Trace& trace, FunctionId function) {
  const Function* found = trace.function(function);
  if (!found) return "?";
  return found->name.empty() ? std::format("{:#x}", found->start.value) : printable(found->name);
}

std::string entryText(const Trace& trace, const Entry& entry) {
  const std::string place = placeText(trace, entry);
  const std::string function = functionText(trace, entry.function);
  switch (entry.kind) {
    case EntryKind::Line:
      return (place.empty() ? function : place + "  " + function) + remarks(entry);
    case EntryKind::Call:
      return withPlace("call " + function, entry.line != 0 ? place : std::string()) + remarks(entry);
    case EntryKind::Return:
      return "return from " + function + remarks(entry);
    case EntryKind::Exception:
      return withPlace("C++ exception" + exceptionText(trace, entry), place) + remarks(entry);
    case EntryKind::Signal:
      return withPlace(signalName(entry.detail), place) + remarks(entry);
    case EntryKind::Sync:
      return std::string(syncText(entry.detail));
    case EntryKind::Gap:
      return "gap: " + std::string(gapText(entry.detail));
  }
  return {};
}

std::string entryJson(const Trace& trace, ThreadIndex thread, EntryIndex index, const Entry& entry) {
  const Module* module = trace.module(entry.module);
  const Function* function = trace.function(entry.function);
  const SourceFile* file = trace.file(entry.file);
  const auto time = trace.wallClock(entry.time);
  const auto text = [](bool known, std::string_view value) { return known ? jsonString(value) : "null"; };
  std::string json = std::format(
      R"({{"thread":{},"index":{},"kind":"{}","module":{},"function":{},"mangled":{},"file":{},"line":{},"depth":{},)"
      R"("address":{},"time":{})",
      threadNumber(thread), index, kindName(entry.kind), text(module, module ? module->name : ""),
      text(function, functionText(trace, entry.function)),
      text(function && !function->mangledName.empty(), function ? function->mangledName : ""),
      text(file, file ? file->path : ""), file && entry.line ? std::to_string(entry.line) : "null",
      entry.depth, module ? std::format("\"{:#x}\"", entry.address.value) : "null",
      time ? std::to_string(time->value) : "null");
  if (entry.kind == EntryKind::Signal) json += ",\"signal\":" + jsonString(signalName(entry.detail));
  if (entry.kind == EntryKind::Exception) {
    const auto type = trace.exceptionType(entry.detail);
    json += ",\"type\":" + text(!type.empty(), type);
    if (const auto said = trace.thrownText(entry); !said.empty()) json += ",\"message\":" + jsonString(said);
    if (const auto first = trace.firstThrow({.thread = thread, .entry = index}))
      json += std::format(R"(,"first_throw":{{"thread":{},"index":{}}})", threadNumber(first->thread),
                          first->entry);
  }
  if (entry.kind == EntryKind::Sync) json += ",\"cause\":" + jsonString(syncOf(entry.detail).key);
  if (entry.kind == EntryKind::Gap) json += ",\"cause\":" + jsonString(causeOf(entry.detail).key);
  addFlags(json, entry);
  return json += '}';
}

}  // namespace traceback::model
