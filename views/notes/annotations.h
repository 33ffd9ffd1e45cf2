// What people note about a snap: bookmarks and words at places of its trace. They are kept in a file of their
// own beside the snap, SNAP.notes.json, never in it, so that they can be sent along or left out.
//
// The file is a JSON object (RFC 8259, UTF-8):
//
//   "traceback_notes": 1            version; a newer one is shown, but never written over
//   "snap": {"program", "pid", "when"}   whose notes these are; `when` in nanoseconds since the Unix epoch,
//                                        a string, for JSON's numbers are too small for it
//   "notes": [{"tid", "entry", "place", "text", "author", "created"}]
//
// `entry` counts a thread's entries from 0, as `traceback print --format json` does; `place` is what stands
// there ("parser.c:61"), so that a note whose entry shows something else is known to have moved. An empty
// text is a mere bookmark. `created` is UTC, as ISO 8601 has it. Keys that a reader does not know are kept.
//
// The file is written anew for each change and takes its place in one step, so that nobody reads half of it.
// It is read again before, for somebody else may have the snap open too: of the note that is changed here the
// change holds, all others are as the file has them by then.
#pragma once

#include <QJsonObject>
#include <QList>
#include <QObject>
#include <QString>
#include <memory>
#include <optional>

#include "model/trace.h"

namespace traceback::views {

struct Annotation {
  model::ThreadIndex thread;  // none if the snap has no such thread
  model::EntryIndex entry = 0;
  QString place;
  QString text;  // one line or several
  QString author;
  QString created;
  bool moved = false;  // what stands at the entry is not what the note says
  QJsonObject stored;  // as it was read, with what else is in it

  // Whether it can be gone to.
  bool reachable() const { return thread.valid() && !moved; }
};

class Annotations : public QObject {
  Q_OBJECT

 public:
  explicit Annotations(QObject* parent = nullptr);

  static QString fileFor(const QString& snap) { return snap + QStringLiteral(".notes.json"); }

  // Reads what lies beside the snap; an empty name keeps notes in memory only. What is wrong is said by
  // problem().
  void setTrace(std::shared_ptr<const model::Trace> trace, const QString& snap);
  // More of the same trace (model/fuller.h): notes stay where they are.
  void setFullerTrace(std::shared_ptr<const model::Trace> trace);
  // From now on notes are kept beside the snap, with those that lie there.
  void keepBeside(const QString& snap);
  // None are taken any more, for the reason that is said to whoever wants to make one.
  void refuse(const QString& why);
  const std::shared_ptr<const model::Trace>& trace() const { return m_trace; }
  // By thread and entry.
  const QList<Annotation>& all() const { return m_all; }
  // Null if there is none.
  const Annotation* at(model::ThreadIndex thread, model::EntryIndex entry) const;

  // Sets the text there, with a bookmark if there was none; and takes both away.
  void set(model::ThreadIndex thread, model::EntryIndex entry, const QString& text);
  void remove(int index);
  void setText(int index, const QString& text);

  // What kept notes from being read or written; empty if nothing did.
  QString problem() const { return m_problem; }
  bool isReadOnly() const { return m_readOnly; }

 signals:
  // Another trace is about to come: what is being written now is of the old one.
  void aboutToTakeTrace();
  void changed();
  void problemMet(const QString& text);

 private:
  // Of one note: what it was, nothing if it is new, and what it is to be, nothing if it is to go.
  struct Change {
    std::optional<Annotation> was, now;
  };

  // The notes of the file; nothing if there is none, or none that can be read.
  std::optional<QList<Annotation>> readFile();
  void read();
  void change(Change what);
  static void apply(const Change& what, QList<Annotation>& notes);
  bool write();
  void sort();
  void complain(const QString& text);
  QString placeOf(model::ThreadIndex thread, model::EntryIndex entry) const;

  std::shared_ptr<const model::Trace> m_trace;
  QString m_file;
  QJsonObject m_stored;  // the file, with what else is in it
  QList<Annotation> m_all;
  QList<Change> m_changes;  // that are not in the file yet
  QString m_problem;
  bool m_readOnly = false;
};

}  // namespace traceback::views
