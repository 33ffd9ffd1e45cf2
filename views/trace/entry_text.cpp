#include "views/trace/entry_text.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QStringList>
#include <csignal>

#include "views/common/formatting.h"

namespace traceback::views {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(traceback::views::EntryText)
};

bool has(const model::Entry& entry, model::EntryFlag flag) { return (entry.flags & flag) != 0; }

QString addressRange(const model::Entry& entry) {
  if (entry.last.value > entry.address.value)
    return QStringLiteral("%1 \u2026 %2").arg(hex(entry.address.value), hex(entry.last.value));
  return hex(entry.address.value);
}

// What the line called, and why that is not in the trace.
QString whyUntraced(const model::Trace& trace, const model::Entry& line) {
  using Kind = model::UntracedCallee::Kind;
  const model::UntracedCallee callee = model::calleeOf(line);
  if (callee.kind == Kind::Stub)
    return Words::tr(
        "The line ends in a call into another file, which left no records: that file is not traced.");
  const model::Function* function = trace.function(callee.function);
  if (function == nullptr) return Words::tr("The line ends in a call whose callee left no records.");
  const QString name = shortFunctionName(trace, callee.function);
  if (function->untraced.empty())
    return Words::tr("The line ends in a call of %1, which left no records.").arg(name);
  return Words::tr("The line ends in a call of %1, which is not traced, for %2.")
      .arg(name, QString::fromStdString(function->untraced));
}

// The same as a row has room for it.
QString untracedInShort(const model::Trace& trace, const model::Entry& line) {
  const model::UntracedCallee callee = model::calleeOf(line);
  if (callee.kind == model::UntracedCallee::Kind::Stub) return Words::tr("untraced call: another file");
  const model::Function* function = trace.function(callee.function);
  if (function == nullptr) return Words::tr("untraced call");
  const QString name = shortFunctionName(trace, callee.function);
  if (function->untraced.empty()) return Words::tr("untraced call: %1").arg(name);
  // Of the sentence its first clause: the whole is in the tool tip.
  QString why = QString::fromStdString(function->untraced).section(QStringLiteral(", "), 0, 0);
  if (why.startsWith(QStringLiteral("it is "))) why.remove(0, 6);
  return Words::tr("untraced: %1 (%2)").arg(name, why);
}

Badge thrownAgain() {
  return {
      Badge::Exception, Words::tr("thrown again"),
      Words::tr("An exception that was kept was thrown again here, by std::rethrow_exception or a future.")};
}

Badge stillActive() {
  return {Badge::Info, Words::tr("no return seen"), Words::tr("The trace does not show this call return.")};
}

}  // namespace

QString badgeIcon(Badge::Kind kind) {
  switch (kind) {
    case Badge::Fault:
      return QStringLiteral("fault");
    case Badge::Signal:
      return QStringLiteral("signal");
    case Badge::Exception:
      return QStringLiteral("exception");
    case Badge::Gap:
      return QStringLiteral("gap");
    case Badge::Untraced:
      return QStringLiteral("untraced");
    case Badge::Info:
      break;
  }
  return QStringLiteral("info");
}

QString EntryText::what(const model::Entry& entry, const model::CallSpan* call) const {
  if (call != nullptr) return functionName(*m_trace, call->function);
  switch (entry.kind) {
    case model::EntryKind::Line: {
      QString text = m_sources->line(entry.file, entry.line);
      if (!text.isEmpty()) return text;
      if (entry.line != 0) return Words::tr("line %1").arg(entry.line);
      return addressRange(entry);
    }
    case model::EntryKind::Call:
      return function(entry, nullptr);
    case model::EntryKind::Return:
      return has(entry, model::kEntryInterrupted)
                 ? Words::tr("%1 was left early").arg(function(entry, nullptr))
                 : Words::tr("%1 returned").arg(function(entry, nullptr));
    case model::EntryKind::Exception:
      return exceptionText(*m_trace, entry);
    case model::EntryKind::Signal: {
      // One that was sent means nothing of what its name says.
      const model::Trace::Summary& summary = m_trace->summary;
      const bool sent = entry.detail == summary.signal && entry.detail != SIGABRT &&
                        static_cast<std::int32_t>(summary.signalCode) <= 0;
      const QString meaning = sent ? QString() : signalMeaning(entry.detail);
      const QString name = signalName(entry.detail);
      return meaning.isEmpty() ? Words::tr("%1 arrived").arg(name)
                               : Words::tr("%1 arrived: %2").arg(name, meaning);
    }
    case model::EntryKind::Sync:
      return syncText(entry.detail);
    case model::EntryKind::Gap:
      return leadsToHistory(*m_trace, entry)
                 ? Words::tr("%1; Before the trace has samples of them").arg(gapText(entry.detail))
                 : gapText(entry.detail);
  }
  return {};
}

bool leadsToHistory(const model::Trace& trace, const model::Entry& entry) {
  return entry.kind == model::EntryKind::Gap &&
         entry.detail == static_cast<std::uint32_t>(model::GapCause::Overwritten) &&
         std::ranges::any_of(trace.threads,
                             [](const auto& thread) { return thread->info().history != nullptr; });
}

QString EntryText::detail(const model::CallSpan& call) const {
  if (call.end <= call.first) return {};
  const std::uint64_t entries = call.end - call.first;
  return entries == 1 ? Words::tr("1 entry") : Words::tr("%1 entries").arg(count(entries));
}

QString hiddenText(std::uint64_t entries) {
  return entries == 1 ? Words::tr("1 entry hidden by the filter")
                      : Words::tr("%1 entries hidden by the filter").arg(count(entries));
}

QString EntryText::time(const model::Entry& entry) const { return timeOfDay(*m_trace, entry.time); }

QString EntryText::cell(int column, const model::Entry& entry, const model::CallSpan* call,
                        model::ThreadIndex thread) const {
  switch (column) {
    case kPlaceColumn:
      return place(entry, call);
    case kFunctionColumn:
      return call == nullptr ? function(entry, nullptr) : QString();
    case kNoteColumn: {
      QStringList words;
      for (const Badge& badge : badges(entry, call)) words.append(badge.text);
      return words.join(QStringLiteral(", "));
    }
    case kThreadColumn:
      return thread.value < m_trace->threads.size()
                 ? threadName(m_trace->threads[thread.value]->info(), thread.value + 1)
                 : QString();
    case kTimeColumn:
      return time(entry);
    case kModuleColumn: {
      const model::Module* module = m_trace->module(entry.module);
      return module != nullptr ? QString::fromStdString(module->name) : QString();
    }
    case kFileColumn: {
      const model::SourceFile* file = m_trace->file(entry.file);
      return file != nullptr ? QString::fromStdString(file->path) : QString();
    }
    case kDepthColumn:
      return QString::number(entry.depth);
    default:
      return {};
  }
}

RepeatText EntryText::repeated(const std::vector<model::Entry>& round, std::uint64_t times,
                               bool atLeast) const {
  constexpr qsizetype kNamed = 8;
  const QString many = atLeast ? Words::tr("at least %1").arg(count(times)) : count(times);
  if (round.size() == 1)
    return {what(round.front(), nullptr), round.front().kind == model::EntryKind::Call
                                              ? Words::tr("%1 calls in a row").arg(many)
                                              : Words::tr("%1 times in a row").arg(many)};
  QStringList parts;
  for (const model::Entry& entry : round) {
    QString part;
    if (entry.kind == model::EntryKind::Call)
      part = shortFunctionName(*m_trace, entry.function) + QStringLiteral("()");
    else if (entry.kind == model::EntryKind::Line)
      part = entry.line != 0 ? QString::number(entry.line) : hex(entry.address.value);
    if (part.isEmpty() || (!parts.isEmpty() && parts.last() == part)) continue;
    if (parts.size() == kNamed) {
      parts.append(QStringLiteral("\u2026"));
      break;
    }
    parts.append(part);
  }
  return {Words::tr("loop, %1 times").arg(many),
          Words::tr("%1 rows: %2").arg(count(round.size())).arg(parts.join(QStringLiteral(", ")))};
}

QString EntryText::place(const model::Entry& entry, const model::CallSpan* call) const {
  const bool isCall = call != nullptr || entry.kind == model::EntryKind::Call;
  if (isCall) {
    const model::Function* function = m_trace->function(call != nullptr ? call->function : entry.function);
    const model::SourceFile* file = function != nullptr ? m_trace->file(function->file) : nullptr;
    if (file != nullptr && function->line != 0)
      return QStringLiteral("%1:%2").arg(fileName(file->path)).arg(function->line);
    // Of an inlined one, where it was called.
    return entry.kind == model::EntryKind::Call ? views::place(*m_trace, entry) : QString();
  }
  switch (entry.kind) {
    case model::EntryKind::Line:
    case model::EntryKind::Exception:
    case model::EntryKind::Signal:
      return views::place(*m_trace, entry);
    default:
      return {};
  }
}

QString EntryText::function(const model::Entry& entry, const model::CallSpan* call) const {
  if (call != nullptr) return functionName(*m_trace, call->function);
  if (entry.kind == model::EntryKind::Sync ||
      (entry.kind == model::EntryKind::Gap && !entry.function.valid()))
    return {};
  return functionName(*m_trace, entry.function);
}

QList<Badge> EntryText::badges(const model::Entry& entry, const model::CallSpan* call) const {
  QList<Badge> result;
  if (call != nullptr && !call->call) {
    // The row stands for the call, not for the entry that it happens to begin with.
    result.append({Badge::Info, Words::tr("began earlier"),
                   Words::tr("How this function was called is not in the trace.")});
    if (!call->finished) result.append(stillActive());
    return result;
  }
  if (has(entry, model::kEntryFault) && entry.kind == model::EntryKind::Exception) {
    result.append({Badge::Fault, Words::tr("not caught"),
                   Words::tr("Nobody caught this exception, so the program was aborted.")});
    if (has(entry, model::kEntryAgain)) result.append(thrownAgain());
    return result;
  }
  if (has(entry, model::kEntryFault)) {
    const auto& summary = m_trace->summary;
    const QString name = summary.faultSignal() != 0 ? signalName(summary.faultSignal()) : Words::tr("fault");
    result.append({Badge::Fault, name, Words::tr("The thread faulted at this line.")});
  }
  switch (entry.kind) {
    case model::EntryKind::Signal:
      result.append({Badge::Signal, Words::tr("signal"), Words::tr("A signal interrupted the thread here.")});
      break;
    case model::EntryKind::Exception:
      result.append(has(entry, model::kEntryAgain) ? thrownAgain()
                                                   : Badge{Badge::Exception, Words::tr("exception"),
                                                           Words::tr("A C++ exception was thrown here.")});
      break;
    case model::EntryKind::Gap:
      result.append({Badge::Gap, Words::tr("gap"),
                     Words::tr("Nothing is known of what ran here: %1.").arg(gapText(entry.detail))});
      break;
    default:
      break;
  }
  if (has(entry, model::kEntryUntracedCall))
    result.append({Badge::Untraced, untracedInShort(*m_trace, entry), whyUntraced(*m_trace, entry)});
  if (entry.kind == model::EntryKind::Call) {
    if (has(entry, model::kEntryInlined))
      result.append({Badge::Info, Words::tr("inlined"), Words::tr("The compiler inlined this call.")});
    if (has(entry, model::kEntryResumed))
      result.append(
          {Badge::Info, Words::tr("goes on"),
           Words::tr("The compiler mixed this call with the code around it: it began further up.")});
    if (has(entry, model::kEntryTailCall))
      result.append({Badge::Info, Words::tr("tail call"),
                     Words::tr("Reached by a jump: the caller's frame was gone already.")});
    if (call != nullptr && !call->finished) result.append(stillActive());
  }
  if (has(entry, model::kEntryInterrupted))
    result.append({Badge::Exception, Words::tr("left early"),
                   Words::tr("Not left by a return, but unwound, jumped over or never seen to end.")});
  if (has(entry, model::kEntryCatch))
    result.append({Badge::Exception, Words::tr("landing pad"),
                   Words::tr("An exception was caught or cleaned up after here.")});
  if (has(entry, model::kEntryAtOtherFault))
    result.append(
        {Badge::Info, Words::tr("at the fault"),
         Words::tr(
             "The thread was about here when another one faulted, and ran on until all were stopped.")});
  if (has(entry, model::kEntryPartial) && !has(entry, model::kEntryFault))
    result.append(
        {Badge::Info, Words::tr("cut short"), Words::tr("A signal or an exception interrupted this line.")});
  if (has(entry, model::kEntryInHandler) &&
      (entry.kind == model::EntryKind::Call || entry.kind == model::EntryKind::Signal))
    result.append({Badge::Signal, Words::tr("in handler"), Words::tr("Ran within a signal handler.")});
  return result;
}

RowStyle EntryText::style(const model::Entry& entry, const model::CallSpan* call) const {
  if (call != nullptr) return RowStyle::Call;
  switch (entry.kind) {
    case model::EntryKind::Line:
      return m_sources->line(entry.file, entry.line).isEmpty() && entry.line != 0 ? RowStyle::Words
                                                                                  : RowStyle::Code;
    case model::EntryKind::Call:
      return RowStyle::Call;
    case model::EntryKind::Return:
    case model::EntryKind::Sync:
      return RowStyle::Quiet;
    default:
      return RowStyle::Words;
  }
}

QString EntryText::toolTip(const model::Entry& entry, const model::CallSpan* call) const {
  QStringList lines;
  const QString name = function(entry, call);
  if (!name.isEmpty()) lines.append(name);
  if (const model::SourceFile* file = m_trace->file(entry.file)) {
    const QString path = QString::fromStdString(file->path);
    lines.append(entry.line != 0 ? QStringLiteral("%1:%2").arg(path).arg(entry.line) : path);
  }
  if (const model::Module* module = m_trace->module(entry.module);
      module != nullptr && entry.address.value != 0)
    lines.append(Words::tr("%1 at %2").arg(QString::fromStdString(module->name), addressRange(entry)));
  for (const Badge& badge : badges(entry, call)) lines.append(badge.explanation);
  return lines.join(u'\n');
}

QString EntryText::spoken(const model::Entry& entry, const model::CallSpan* call) const {
  QStringList parts;
  if (entry.kind == model::EntryKind::Call)
    parts.append(Words::tr("call of %1").arg(what(entry, call)));
  else
    parts.append(what(entry, call));
  if (const QString where = place(entry, call); !where.isEmpty()) parts.append(where);
  for (const Badge& badge : badges(entry, call)) parts.append(badge.text);
  return parts.join(QStringLiteral(", "));
}

}  // namespace traceback::views
