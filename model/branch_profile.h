// Which way branches went and where records began, as counted in traces: what the instrumentor goes by to put
// probes where they are seldom met.
//
// As a text file, *.tbprofile:
//
//   traceback-profile 3
//   module BUILD-ID                hexadecimal, of the original; what follows is of this module
//   program RECORDS                perhaps: how many were counted, of all modules, where this was the program
//   ADDRESS RAN BRANCHED TAKEN BEGUN   of a block; any number of these
//   module ...
//
// ADDRESS is the link-time address of the block's first instruction, hexadecimal; RAN says how often it was
// gone through, BRANCHED how often the way is known that the branch in which it ends went, TAKEN how often of
// these it was taken, BEGUN how often a record began with the block: decimal. A module that comes twice, or a
// block, counts for both. Empty lines, and those that begin with `#`, mean nothing. Version 2 had no
// `program`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "model/error.h"

namespace traceback::model {

struct BlockCounts {
  std::uint64_t ran = 0, branched = 0, taken = 0, begun = 0;

  void add(const BlockCounts& other);
  friend bool operator==(const BlockCounts&, const BlockCounts&) = default;
};

// Of a program of which so many were counted a run learns nothing more by itself (app/traceback/learning.h):
// some seconds at full speed, of which one record in about a hundred is counted.
inline constexpr std::uint64_t kKnownRecords = 1 << 23;

// By address.
using ModuleProfile = std::map<std::uint32_t, BlockCounts>;

class BranchProfile {
 public:
  // `origin` names the text in errors, which say in which line something is wrong.
  static Result<BranchProfile> parse(std::string_view text, const std::string& origin);
  std::string text() const;

  // Null if there is nothing of that module.
  const ModuleProfile* find(std::string_view buildId) const;
  void add(std::string_view buildId, std::uint32_t address, const BlockCounts& counts);
  void addProgram(std::string_view buildId, std::uint64_t records);
  // All that another says of a module.
  void add(const BranchProfile& other, std::string_view buildId);

  // In how many a module was counted, and in how many of all modules, where it was the program.
  std::uint64_t recordsOf(std::string_view buildId) const;
  std::uint64_t programRecordsOf(std::string_view buildId) const;

  const std::map<std::string, ModuleProfile, std::less<>>& modules() const { return m_modules; }
  std::uint64_t records() const;  // how many it was counted in

 private:
  std::map<std::string, ModuleProfile, std::less<>> m_modules;  // by build id
  std::map<std::string, std::uint64_t, std::less<>> m_programs;  // likewise; each is a module, too
};

}  // namespace traceback::model
