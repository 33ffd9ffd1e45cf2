// Variables and registers of one frame, with the parts that they have, from gdb.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loader/values/gdb_session.h"
#include "model/error.h"
#include "model/values.h"

namespace traceback::loader {

class ValueReader {
 public:
  explicit ValueReader(GdbSession& gdb) : m_gdb(gdb) {}

  // The numbers are gdb's. Fails only if gdb is lost.
  model::Result<void> readVariables(std::uint32_t thread, std::uint32_t frame, model::FrameValues& to);
  model::Result<void> readRegisters(std::uint32_t thread, std::uint32_t frame, model::FrameValues& to);
  // Of an expression, where the frame's variables are in sight.
  model::Result<model::Value> evaluate(const std::string& expression);

 private:
  model::Result<void> expand(const std::string& where, model::Value& value);
  model::Result<void> addParts(const std::string& object, unsigned depth, model::Value& to);

  GdbSession& m_gdb;
  std::vector<std::string> m_registerNames;
  unsigned m_partsLeft = 0;
};

}  // namespace traceback::loader
