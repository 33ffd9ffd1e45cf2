#include "views/notes/annotations.h"

#include <QDateTime>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>
#include <algorithm>
#include <utility>

#include "model/fuller.h"
#include "model/text_format.h"

namespace traceback::views {
namespace {

constexpr int kVersion = 1;
// More than anybody writes; whatever claims more is no such file.
constexpr qint64 kMostBytes = 16 << 20;
const QString kVersionKey = QStringLiteral("traceback_notes");

std::uint32_t tidOf(const model::Trace& trace, model::ThreadIndex thread) {
  return trace.threads[thread.value]->info().tid;
}

model::ThreadIndex threadOf(const model::Trace& trace, std::uint32_t tid) {
  for (std::uint32_t i = 0; i < trace.threads.size(); ++i)
    if (trace.threads[i]->info().tid == tid) return {i};
  return {};
}

QJsonObject snapOf(const model::Trace& trace) {
  return {{QStringLiteral("program"), QString::fromStdString(trace.summary.program)},
          {QStringLiteral("pid"), static_cast<qint64>(trace.summary.pid)},
          {QStringLiteral("when"), QString::number(trace.summary.when.value)}};
}

}  // namespace

Annotations::Annotations(QObject* parent) : QObject(parent) {}

void Annotations::setTrace(std::shared_ptr<const model::Trace> trace, const QString& snap) {
  emit aboutToTakeTrace();
  m_trace = std::move(trace);
  m_file = snap.isEmpty() ? QString() : fileFor(snap);
  m_all.clear();
  m_stored = {};
  m_changes.clear();
  m_problem.clear();
  m_readOnly = false;
  if (m_trace && !m_file.isEmpty()) read();
  emit changed();
}

void Annotations::setFullerTrace(std::shared_ptr<const model::Trace> trace) {
  emit aboutToTakeTrace();
  const auto part = std::exchange(m_trace, std::move(trace));
  if (part && part->threads.size() == m_trace->threads.size()) {
    for (Annotation& note : m_all)
      note.entry = model::sameEntry(*part->threads[note.thread.value], note.entry,
                                    *m_trace->threads[note.thread.value]);
    sort();
  }
  emit changed();
}

void Annotations::keepBeside(const QString& snap) {
  const QList<Annotation> made = std::exchange(m_all, {});
  m_file = fileFor(snap);
  read();
  for (const Annotation& note : made) {
    const Annotation* known = at(note.thread, note.entry);
    if (known != nullptr && note.text.isEmpty()) continue;
    // Who wrote it could not see what was there already.
    const bool both = known != nullptr && !known->text.isEmpty() && known->text != note.text;
    set(note.thread, note.entry, both ? known->text + u'\n' + note.text : note.text);
  }
  emit changed();
}

void Annotations::refuse(const QString& why) {
  m_readOnly = true;
  m_problem = why;
}

void Annotations::complain(const QString& text) {
  m_problem = text;
  emit problemMet(text);
}

QString Annotations::placeOf(model::ThreadIndex thread, model::EntryIndex entry) const {
  const model::ThreadTrace& trace = *m_trace->threads[thread.value];
  if (entry >= trace.entryCount()) return {};
  const model::Entry what = trace.entry(entry);
  const std::string place = model::placeText(*m_trace, what);
  return QString::fromStdString(place.empty() ? model::entryText(*m_trace, what) : place);
}

std::optional<QList<Annotation>> Annotations::readFile() {
  QFile file(m_file);
  if (!file.exists()) return std::nullopt;
  if (!file.open(QIODevice::ReadOnly) || file.size() > kMostBytes) {
    m_readOnly = true;
    complain(tr("%1: the notes cannot be read: %2")
                 .arg(m_file, file.isOpen() ? tr("too large") : file.errorString()));
    return std::nullopt;
  }
  QJsonParseError error{};
  const QJsonDocument document = QJsonDocument::fromJson(file.readAll(), &error);
  const int version = document.object()[kVersionKey].toInt();
  if (error.error != QJsonParseError::NoError || version < 1) {
    m_readOnly = true;
    complain(tr("%1: these are no notes of TraceBack: they are left as they are").arg(m_file));
    return std::nullopt;
  }
  m_stored = document.object();
  if (version > kVersion) {
    m_readOnly = true;
    complain(tr("%1: written by a newer version: notes are shown, but none are added").arg(m_file));
  }
  QList<Annotation> notes;
  for (const auto& value : m_stored[QStringLiteral("notes")].toArray()) {
    Annotation note;
    note.stored = value.toObject();
    note.thread =
        threadOf(*m_trace, static_cast<std::uint32_t>(note.stored[QStringLiteral("tid")].toInteger()));
    note.entry =
        static_cast<model::EntryIndex>(std::max<qint64>(0, note.stored[QStringLiteral("entry")].toInteger()));
    note.place = note.stored[QStringLiteral("place")].toString();
    note.text = note.stored[QStringLiteral("text")].toString();
    note.author = note.stored[QStringLiteral("author")].toString();
    note.created = note.stored[QStringLiteral("created")].toString();
    note.moved = !note.thread.valid() || note.place != placeOf(note.thread, note.entry);
    notes.append(note);
  }
  return notes;
}

void Annotations::read() {
  const auto notes = readFile();
  if (!notes) return;
  if (const QJsonObject snap = m_stored[QStringLiteral("snap")].toObject();
      snap[QStringLiteral("pid")] != snapOf(*m_trace)[QStringLiteral("pid")] ||
      snap[QStringLiteral("when")] != snapOf(*m_trace)[QStringLiteral("when")])
    complain(tr("%1: these are the notes of another snap").arg(m_file));
  m_all = *notes;
  sort();
}

void Annotations::sort() {
  std::ranges::stable_sort(m_all, [](const Annotation& a, const Annotation& b) {
    return std::pair(a.thread.value, a.entry) < std::pair(b.thread.value, b.entry);
  });
}

void Annotations::apply(const Change& what, QList<Annotation>& notes) {
  const Annotation& sought = what.was ? *what.was : *what.now;
  auto known = notes.end();
  if (what.was)
    known = std::ranges::find_if(notes, [&](const Annotation& each) {
      return each.thread == sought.thread && each.entry == sought.entry && each.text == sought.text &&
             each.stored == sought.stored;
    });
  if (known == notes.end() && sought.thread.valid())
    // Somebody else has changed it, or made one at the same place.
    known = std::ranges::find_if(notes, [&](const Annotation& each) {
      return each.thread == sought.thread && each.entry == sought.entry;
    });
  if (known == notes.end()) {
    if (what.now) notes.append(*what.now);
    return;
  }
  // Who sets or takes away a mere bookmark does not mean a text that was not in sight.
  const bool textUnseen = !known->text.isEmpty() && (!what.was || what.was->text.isEmpty());
  if (textUnseen && (!what.now || what.now->text.isEmpty())) return;
  if (what.now)
    known->text = what.now->text;
  else
    notes.erase(known);
}

void Annotations::change(Change what) {
  m_changes.append(std::move(what));
  if (const auto file = m_file.isEmpty() ? std::nullopt : readFile()) m_all = *file;
  if (m_readOnly) {
    // It is no longer ours to write: what it holds is shown.
    m_changes.clear();
    sort();
    emit changed();
    return;
  }
  for (const Change& each : std::as_const(m_changes)) apply(each, m_all);
  sort();
  if (m_file.isEmpty() || write()) m_changes.clear();
  emit changed();
}

// False, and said, if the file is as it was.
bool Annotations::write() {
  QJsonArray notes;
  for (Annotation& note : m_all) {
    if (note.thread.valid())
      note.stored[QStringLiteral("tid")] = static_cast<qint64>(tidOf(*m_trace, note.thread));
    note.stored[QStringLiteral("entry")] = static_cast<qint64>(note.entry);
    note.stored[QStringLiteral("place")] = note.place;
    note.stored[QStringLiteral("text")] = note.text;
    note.stored[QStringLiteral("author")] = note.author;
    note.stored[QStringLiteral("created")] = note.created;
    notes.append(note.stored);
  }
  m_stored[kVersionKey] = kVersion;
  m_stored[QStringLiteral("snap")] = snapOf(*m_trace);
  m_stored[QStringLiteral("notes")] = notes;
  QSaveFile file(m_file);
  const QByteArray bytes = QJsonDocument(m_stored).toJson();
  if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
    complain(tr("%1: the notes cannot be kept: %2").arg(m_file, file.errorString()));
    return false;
  }
  m_problem.clear();
  return true;
}

const Annotation* Annotations::at(model::ThreadIndex thread, model::EntryIndex entry) const {
  const auto found = std::ranges::lower_bound(
      m_all, std::pair(thread.value, entry), {},
      [](const Annotation& each) { return std::pair(each.thread.value, each.entry); });
  return found != m_all.end() && found->thread == thread && found->entry == entry ? &*found : nullptr;
}

void Annotations::set(model::ThreadIndex thread, model::EntryIndex entry, const QString& text) {
  if (!m_trace || thread.value >= m_trace->threads.size()) return;
  if (entry >= m_trace->threads[thread.value]->entryCount()) return;
  if (m_readOnly) return complain(m_problem);
  if (const Annotation* known = at(thread, entry))
    return setText(static_cast<int>(known - m_all.constData()), text);
  Annotation note;
  note.thread = thread;
  note.entry = entry;
  note.place = placeOf(thread, entry);
  note.text = text;
  note.author = qEnvironmentVariable("USER");
  note.created = QDateTime::currentDateTimeUtc().toString(Qt::ISODate);
  change({std::nullopt, note});
}

void Annotations::setText(int index, const QString& text) {
  if (index < 0 || index >= m_all.size()) return;
  if (m_readOnly) return complain(m_problem);
  Annotation now = m_all[index];
  now.text = text;
  change({m_all[index], now});
}

void Annotations::remove(int index) {
  if (index < 0 || index >= m_all.size()) return;
  if (m_readOnly) return complain(m_problem);
  change({m_all[index], std::nullopt});
}

}  // namespace traceback::views
