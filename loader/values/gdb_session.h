// A gdb that is asked by another program (GDB manual, "The GDB/MI Interface").
//
// It reads no start-up files of the user's and fetches nothing from a network. Not thread-safe. It ends with
// the object, whatever it is doing.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "loader/values/mi_parser.h"
#include "model/error.h"

namespace traceback::loader {

class GdbSession {
 public:
  struct Limits {
    std::chrono::milliseconds answer = std::chrono::seconds(30);  // for one command
    std::chrono::milliseconds all = std::chrono::minutes(2);      // for the session
    std::stop_token stop = {};
  };

  // Fails if there is no gdb, saying so.
  static model::Result<GdbSession> start(Limits limits);
  GdbSession(GdbSession&& other) noexcept
      : m_process(std::exchange(other.m_process, -1)),
        m_channel(std::exchange(other.m_channel, -1)),
        m_buffer(std::move(other.m_buffer)),
        m_limits(std::move(other.m_limits)),
        m_end(other.m_end),
        m_token(other.m_token) {}
  GdbSession& operator=(GdbSession&&) = delete;
  ~GdbSession();

  // A command of MI, such as "-stack-list-frames". What it answers with "^done"; gdb's message if it failed;
  // an error if it took too long, gdb ended, or stop was requested. isLost() tells the latter kind.
  model::Result<MiValue> ask(std::string_view command);
  bool isLost() const { return m_lost; }
  void setAnswerLimit(std::chrono::milliseconds most) { m_limits.answer = most; }

 private:
  explicit GdbSession(Limits limits) : m_limits(std::move(limits)) {}
  bool send(const std::string& text);
  model::Result<std::string> nextLine(std::chrono::steady_clock::time_point until);
  std::unexpected<model::Error> lose(std::string why);

  pid_t m_process = -1;
  int m_channel = -1;  // its standard input and output
  std::string m_buffer;
  Limits m_limits;
  std::chrono::steady_clock::time_point m_end;
  std::uint64_t m_token = 0;
  bool m_lost = false;
};

// As an argument of an MI command.
std::string miQuoted(std::string_view text);

}  // namespace traceback::loader
