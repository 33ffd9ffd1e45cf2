#include "views/common/formatting.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <csignal>

#include "model/function_name.h"
#include "model/text_format.h"
#include "model/utf8.h"

namespace traceback::views {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(traceback::views::Formatting)
};

QString said(const QString& before, std::string_view text) {
  return text.empty() ? before
                      : QStringLiteral("%1: %2").arg(before, QString::fromStdString(model::printable(text)));
}

struct SignalWords {
  std::uint32_t number;
  const char* name;
  const char* meaning;
};

constexpr SignalWords kSignals[] = {
    {SIGHUP, "SIGHUP", QT_TRANSLATE_NOOP("traceback::views::Formatting", "hang-up")},
    {SIGINT, "SIGINT", QT_TRANSLATE_NOOP("traceback::views::Formatting", "interrupted from the keyboard")},
    {SIGQUIT, "SIGQUIT", QT_TRANSLATE_NOOP("traceback::views::Formatting", "quit from the keyboard")},
    {SIGILL, "SIGILL", QT_TRANSLATE_NOOP("traceback::views::Formatting", "illegal instruction")},
    {SIGTRAP, "SIGTRAP", QT_TRANSLATE_NOOP("traceback::views::Formatting", "trace or breakpoint trap")},
    {SIGABRT, "SIGABRT", QT_TRANSLATE_NOOP("traceback::views::Formatting", "the program aborted itself")},
    {SIGBUS, "SIGBUS", QT_TRANSLATE_NOOP("traceback::views::Formatting", "bad memory access")},
    {SIGFPE, "SIGFPE", QT_TRANSLATE_NOOP("traceback::views::Formatting", "arithmetic error")},
    {SIGKILL, "SIGKILL", QT_TRANSLATE_NOOP("traceback::views::Formatting", "killed")},
    {SIGUSR1, "SIGUSR1", ""},
    {SIGSEGV, "SIGSEGV", QT_TRANSLATE_NOOP("traceback::views::Formatting", "invalid memory reference")},
    {SIGUSR2, "SIGUSR2", ""},
    {SIGPIPE, "SIGPIPE", QT_TRANSLATE_NOOP("traceback::views::Formatting", "wrote to a closed pipe")},
    {SIGALRM, "SIGALRM", QT_TRANSLATE_NOOP("traceback::views::Formatting", "alarm clock")},
    {SIGTERM, "SIGTERM", QT_TRANSLATE_NOOP("traceback::views::Formatting", "asked to end")},
    {SIGSTKFLT, "SIGSTKFLT", ""},
    {SIGCHLD, "SIGCHLD", QT_TRANSLATE_NOOP("traceback::views::Formatting", "a child process changed")},
    {SIGCONT, "SIGCONT", ""},
    {SIGSTOP, "SIGSTOP", QT_TRANSLATE_NOOP("traceback::views::Formatting", "stopped")},
    {SIGTSTP, "SIGTSTP", ""},
    {SIGTTIN, "SIGTTIN", ""},
    {SIGTTOU, "SIGTTOU", ""},
    {SIGURG, "SIGURG", ""},
    {SIGXCPU, "SIGXCPU", QT_TRANSLATE_NOOP("traceback::views::Formatting", "processor time limit reached")},
    {SIGXFSZ, "SIGXFSZ", QT_TRANSLATE_NOOP("traceback::views::Formatting", "file size limit reached")},
    {SIGVTALRM, "SIGVTALRM", ""},
    {SIGPROF, "SIGPROF", ""},
    {SIGWINCH, "SIGWINCH", ""},
    {SIGIO, "SIGIO", ""},
    {SIGPWR, "SIGPWR", ""},
    {SIGSYS, "SIGSYS", QT_TRANSLATE_NOOP("traceback::views::Formatting", "forbidden system call")},
};

const SignalWords* wordsOf(std::uint32_t number) {
  for (const SignalWords& words : kSignals)
    if (words.number == number) return &words;
  return nullptr;
}

// si_code, sigaction(2): from 0 down somebody sent the signal; SI_KERNEL comes without an address.
bool wasSent(std::uint32_t code) { return static_cast<std::int32_t>(code) <= 0; }
bool hasFaultAddress(std::uint32_t signal, std::uint32_t code) {
  return (signal == SIGSEGV || signal == SIGBUS) && !wasSent(code) && code != SI_KERNEL;
}

}  // namespace

QString signalName(std::uint32_t number) {
  if (const SignalWords* words = wordsOf(number)) return QString::fromLatin1(words->name);
  return Words::tr("signal %1").arg(number);
}

QString signalMeaning(std::uint32_t number) {
  const SignalWords* words = wordsOf(number);
  return words != nullptr && *words->meaning != 0 ? Words::tr(words->meaning) : QString();
}

QString signalCodeMeaning(std::uint32_t number, std::uint32_t code) {
  if (wasSent(code))
    return number == SIGABRT ? QString() : Words::tr("sent by a program, not caused by this code");
  switch (number) {
    case SIGSEGV:
      if (code == SEGV_MAPERR) return Words::tr("nothing is mapped there");
      if (code == SI_KERNEL) return Words::tr("the processor does not say at which address");
      if (code == SEGV_ACCERR) return Words::tr("access is not permitted there");
      return {};
    case SIGBUS:
      if (code == BUS_ADRALN) return Words::tr("the address is not aligned");
      if (code == BUS_ADRERR) return Words::tr("there is no memory behind the address");
      return {};
    case SIGFPE:
      if (code == FPE_INTDIV) return Words::tr("integer division by zero");
      if (code == FPE_INTOVF) return Words::tr("integer overflow");
      if (code == FPE_FLTDIV) return Words::tr("floating-point division by zero");
      return {};
    default:
      return {};
  }
}

QString exceptionText(const model::Trace& trace, const model::Entry& exception) {
  const std::string_view type = trace.exceptionType(exception.detail);
  return said(type.empty() ? Words::tr("a C++ exception was thrown")
                           : Words::tr("%1 was thrown").arg(QString::fromUtf8(type)),
              trace.thrownText(exception));
}

QString gapText(std::uint32_t cause) {
  switch (static_cast<model::GapCause>(cause)) {
    case model::GapCause::Overwritten:
      return Words::tr("older records were overwritten");
    case model::GapCause::Damaged:
      return Words::tr("records are damaged");
    case model::GapCause::MissingMap:
      return Words::tr("the module's map is missing, so its records cannot be read");
    case model::GapCause::HandlerTooDeep:
      return Words::tr("signal handlers were nested too deep to record");
    case model::GapCause::HandlerNotWrapped:
      return Words::tr("a signal handler ran that was not recorded");
    case model::GapCause::PathUnknown:
      return Words::tr("the path may go on beyond what is shown");
    case model::GapCause::NotRead:
      return Words::tr("older records have not been read yet");
    case model::GapCause::Forked:
      return Words::tr("the process was forked in a signal handler: up to here its parent recorded this");
    case model::GapCause::NoRing:
      return Words::tr("the thread ran before, but there was no memory to record it in");
    case model::GapCause::Shared:
      return Words::tr("another thread had the same thread-local storage, so neither was recorded");
    case model::GapCause::Unknown:
      break;
  }
  return Words::tr("it is not known what ran here");
}

QString syncText(std::uint32_t cause) {
  switch (static_cast<model::SyncCause>(cause)) {
    case model::SyncCause::ThreadStart:
      return Words::tr("the thread began");
    case model::SyncCause::ThreadEnd:
      return Words::tr("the thread ended");
    case model::SyncCause::ModuleLoad:
      return Words::tr("a module was loaded");
    case model::SyncCause::ModuleUnload:
      return Words::tr("a module was unloaded");
    case model::SyncCause::Fork:
      return Words::tr("the process forked");
    case model::SyncCause::ThreadCreate:
      return Words::tr("a thread was made");
    case model::SyncCause::ThreadJoin:
      return Words::tr("waits for the end of a thread");
    case model::SyncCause::Snap:
      return Words::tr("the snap was made");
    case model::SyncCause::WaitCondition:
      return Words::tr("waits for a condition");
    case model::SyncCause::WaitBarrier:
      return Words::tr("waits at a barrier");
    case model::SyncCause::WaitSleep:
      return Words::tr("sleeps");
    case model::SyncCause::WaitPoll:
      return Words::tr("waits for files or connections");
    case model::SyncCause::WaitChild:
      return Words::tr("waits for a child process");
  }
  return Words::tr("point of time");
}

QString hex(std::uint64_t value) { return QStringLiteral("0x") + QString::number(value, 16); }

QString count(std::uint64_t value) { return QLocale().toString(static_cast<qulonglong>(value)); }

QString dateTime(model::Nanoseconds when) {
  const auto moment = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(when.value / 1'000'000));
  return moment.toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"));
}

QString fileName(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return QString::fromStdString(slash == std::string::npos ? path : path.substr(slash + 1));
}

QString place(const model::Trace& trace, const model::Entry& entry) {
  if (const model::SourceFile* file = trace.file(entry.file)) {
    const QString name = fileName(file->path);
    return entry.line == 0 ? name : QStringLiteral("%1:%2").arg(name).arg(entry.line);
  }
  if (entry.address.value == 0) return {};
  const model::Module* module = trace.module(entry.module);
  const QString name = module != nullptr ? QString::fromStdString(module->name) : QString();
  return name.isEmpty() ? hex(entry.address.value)
                        : QStringLiteral("%1+%2").arg(name, hex(entry.address.value));
}

QString functionName(const model::Trace& trace, model::FunctionId id) {
  const model::Function* function = trace.function(id);
  return function != nullptr && !function->name.empty() ? QString::fromStdString(function->name)
                                                        : Words::tr("unknown function");
}

QString shortFunctionName(const QString& name) {
  return QString::fromStdString(model::shortFunctionName(name.toStdString()));
}

QString shortFunctionName(const model::Trace& trace, model::FunctionId function) {
  const QString name = functionName(trace, function);
  return function.valid() ? shortFunctionName(name) : name;
}

namespace {

QString faultText(std::uint32_t signal, std::uint32_t code, model::RuntimeAddr address) {
  QString text = signalName(signal);
  const QString meaning = signalMeaning(signal);
  if (!meaning.isEmpty() && (!wasSent(code) || signal == SIGABRT)) text += QStringLiteral(", ") + meaning;
  if (hasFaultAddress(signal, code)) text += Words::tr(" at %1").arg(hex(address.value));
  const QString why = signalCodeMeaning(signal, code);
  if (!why.isEmpty()) text += QStringLiteral(": ") + why;
  return text;
}

// Of a process that was aborted, if that is known.
QString whyAborted(const model::Trace::Summary& summary) {
  const QString signal = signalName(SIGABRT);
  if (summary.faultSignal() != SIGABRT) return {};
  if (!summary.uncaught) return summary.abortMessage.empty() ? QString() : said(signal, summary.abortMessage);
  return said(summary.uncaught->empty()
                  ? Words::tr("%1: a C++ exception was thrown and not caught").arg(signal)
                  : Words::tr("%1: %2 was thrown and not caught")
                        .arg(signal, QString::fromStdString(*summary.uncaught)),
              summary.uncaughtMessage);
}

QString snappedFor(const model::Trace::Summary& summary) {
  switch (summary.reason) {
    case model::TraceReason::Fault:
    case model::TraceReason::Abort:
      if (summary.signal == 0) return Words::tr("The program aborted itself");
      return faultText(summary.signal, summary.signalCode, summary.faultAddress);
    case model::TraceReason::UserRequest:
      return Words::tr("Snap taken by hand");
    case model::TraceReason::Recovered:
      return Words::tr("Recovered after the process was gone");
    case model::TraceReason::Api:
      // The words say that it asked.
      return summary.occasion.empty() ? Words::tr("Snap asked for by the program")
                                      : Words::tr("The program %1")
                                            .arg(QString::fromStdString(model::printable(summary.occasion)));
    case model::TraceReason::Hang:
      return summary.occasion.empty() ? Words::tr("The program hung")
                                      : Words::tr("The program %1")
                                            .arg(QString::fromStdString(model::printable(summary.occasion)));
    case model::TraceReason::Policy:
      return summary.occasion.empty() ? Words::tr("Snap taken by a policy rule")
                                      : Words::tr("The program %1: the policy wanted a snap")
                                            .arg(QString::fromStdString(model::printable(summary.occasion)));
    case model::TraceReason::Unknown:
      break;
  }
  return Words::tr("Snap");
}

}  // namespace

QString reasonText(const model::Trace::Summary& summary) {
  using Then = model::Trace::Summary::HandledFault::Then;
  const auto& first = summary.handledFault;
  const QString aborted = whyAborted(summary);
  if (!first) return aborted.isEmpty() ? snappedFor(summary) : aborted;
  const QString text = aborted.isEmpty() ? faultText(first->signal, first->code, first->address) : aborted;
  if (first->then == Then::EndedProcess) return Words::tr("%1; its handler ended the process").arg(text);
  if (first->then == Then::Runs)
    return Words::tr("%1; thread %2 was in its handler of %3")
        .arg(snappedFor(summary), QString::number(model::threadNumber(first->thread)), text);
  if (first->signal == summary.signal) return Words::tr("%1; its handler raised it again").arg(text);
  return Words::tr("%1; its handler raised %2").arg(text, signalName(summary.signal));
}

QString duration(std::uint64_t nanoseconds) {
  static constexpr struct {
    double least;
    const char* unit;
  } kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "\u00b5s"}};
  const auto value = static_cast<double>(nanoseconds);
  for (const auto& unit : kUnits)
    if (value >= unit.least)
      return QStringLiteral("%1 %2").arg(value / unit.least, 0, 'g', 3).arg(QString::fromUtf8(unit.unit));
  return QStringLiteral("%1 ns").arg(nanoseconds);
}

QString timeOfDay(const model::Trace& trace, model::Ticks time) {
  const auto wall = time.value != 0 ? trace.wallClock(time) : std::nullopt;
  if (!wall) return {};
  const std::int64_t nanoseconds = static_cast<std::int64_t>(wall->value);
  const QDateTime when = QDateTime::fromMSecsSinceEpoch(nanoseconds / 1'000'000);
  return when.toString(QStringLiteral("HH:mm:ss.")) +
         QStringLiteral("%1").arg(nanoseconds / 1000 % 1'000'000, 6, 10, QLatin1Char('0'));
}

QString orderText(model::Order order) {
  switch (order) {
    case model::Order::Before:
      return Words::tr("before");
    case model::Order::After:
      return Words::tr("after");
    case model::Order::Unknown:
      return Words::tr("order not known");
    case model::Order::Same:
      break;
  }
  return {};
}

QString threadName(const model::ThreadTrace::Info& info, std::size_t number) {
  if (info.name.empty()) return Words::tr("%1 thread %2").arg(number).arg(info.tid);
  return QStringLiteral("%1 %2").arg(number).arg(QString::fromStdString(info.name));
}

}  // namespace traceback::views
