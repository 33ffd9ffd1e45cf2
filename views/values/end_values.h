// The values of variables at the moment of the snap, as far as somebody asked for them. They come from
// outside, and slowly, so they are got on a thread of their own, once for each thread of the trace.
#pragma once

#include <QObject>
#include <QString>
#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>

#include "model/error.h"
#include "model/values.h"
#include "views/common/background_job.h"

namespace traceback::views {

// The program that shows the views implements this; a test may bring its own.
class ValuesProvider {
 public:
  virtual ~ValuesProvider() = default;
  // Of one thread. An error says in a line what is missing. Called on a thread of its own, one call at a
  // time.
  virtual model::Result<model::Values> values(std::uint32_t tid, std::stop_token stop) = 0;
};

class EndValues : public QObject {
  Q_OBJECT

 public:
  explicit EndValues(QObject* parent = nullptr) : QObject(parent) {}

  // Null: of this trace nothing can be had.
  void setProvider(std::shared_ptr<ValuesProvider> provider);
  bool hasProvider() const { return m_provider != nullptr; }

  // Null until they are there.
  const model::ThreadValues* of(std::uint32_t tid) const;
  // Why there are none; empty if that is not known, or there are.
  QString problem(std::uint32_t tid) const;
  bool isLoading(std::uint32_t tid) const { return m_job.running() && m_loading == tid; }

  // Gets them, unless that was done; what is being got for another thread is given up. changed() follows.
  void ask(std::uint32_t tid);
  // They can be asked for again.
  void cancel();

 signals:
  void changed();

 private:
  struct Answer {
    model::ThreadValues values;
    QString problem;
  };

  std::shared_ptr<ValuesProvider> m_provider;
  std::map<std::uint32_t, Answer> m_answers;
  std::uint32_t m_loading = 0;
  BackgroundJob m_job;
};

}  // namespace traceback::views
