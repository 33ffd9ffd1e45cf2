#include "model/branch_profile.h"

#include <algorithm>
#include <charconv>
#include <format>
#include <limits>
#include <optional>

namespace traceback::model {

namespace {

constexpr std::string_view kFirstLine = "traceback-profile 3";
constexpr std::string_view kFormerFirstLine = "traceback-profile 2";
constexpr std::string_view kModule = "module ";
constexpr std::string_view kProgram = "program ";
constexpr std::size_t kLongestBuildId = 64;  // digits

std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max()
                                                           : a + b;
}

// The number in front, and the blank behind it, or the text's end.
template <typename T>
std::optional<T> takeNumber(std::string_view& text, int base) {
  T number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || (length < text.size() && text[length] != ' ')) return std::nullopt;
  text.remove_prefix(std::min(length + 1, text.size()));
  return number;
}

bool isBuildId(std::string_view text) {
  return !text.empty() && text.size() <= kLongestBuildId &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

void BlockCounts::add(const BlockCounts& other) {
  ran = sum(ran, other.ran);
  branched = sum(branched, other.branched);
  taken = sum(taken, other.taken);
  begun = sum(begun, other.begun);
}

Result<BranchProfile> BranchProfile::parse(std::string_view text, const std::string& origin) {
  BranchProfile profile;
  ModuleProfile* module = nullptr;
  std::string buildId;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto wrong = [&](const char* what) {
      return fail(std::format("line {}: {}", number, what), origin);
    };
    if (number == 1) {
      if (line != kFirstLine && line != kFormerFirstLine)
        return fail(line.starts_with("traceback-profile ")
                        ? "is a profile of a version that this reader does not know"
                        : "is no profile of traceback",
                    origin);
      continue;
    }
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with(kModule)) {
      line.remove_prefix(kModule.size());
      if (!isBuildId(line)) return wrong("is not 'module BUILD-ID'");
      buildId = line;
      module = &profile.m_modules[buildId];
      continue;
    }
    if (line.starts_with(kProgram)) {
      line.remove_prefix(kProgram.size());
      const auto records = takeNumber<std::uint64_t>(line, 10);
      if (!records || !line.empty()) return wrong("is not 'program RECORDS'");
      if (module == nullptr) return wrong("is of no module");
      profile.addProgram(buildId, *records);
      continue;
    }
    const auto address = takeNumber<std::uint32_t>(line, 16);
    const auto ran = address ? takeNumber<std::uint64_t>(line, 10) : std::nullopt;
    const auto branched = ran ? takeNumber<std::uint64_t>(line, 10) : std::nullopt;
    const auto taken = branched ? takeNumber<std::uint64_t>(line, 10) : std::nullopt;
    const auto begun = taken ? takeNumber<std::uint64_t>(line, 10) : std::nullopt;
    if (!begun || !line.empty()) return wrong("is not 'ADDRESS RAN BRANCHED TAKEN BEGUN'");
    if (module == nullptr) return wrong("is of no module");
    if (*taken > *branched) return wrong("has a branch that is taken more often than it is come to");
    (*module)[*address].add({.ran = *ran, .branched = *branched, .taken = *taken, .begun = *begun});
  }
  if (profile.m_modules.empty()) return fail("is an empty profile, or none of traceback", origin);
  return profile;
}

std::string BranchProfile::text() const {
  std::string out = std::string(kFirstLine) + '\n';
  for (const auto& [buildId, module] : m_modules) {
    out += std::format("{}{}\n", kModule, buildId);
    if (const auto records = programRecordsOf(buildId); records != 0)
      out += std::format("{}{}\n", kProgram, records);
    for (const auto& [address, counts] : module)
      out +=
          std::format("{:x} {} {} {} {}\n", address, counts.ran, counts.branched, counts.taken, counts.begun);
  }
  return out;
}

const ModuleProfile* BranchProfile::find(std::string_view buildId) const {
  const auto module = m_modules.find(buildId);
  return module == m_modules.end() ? nullptr : &module->second;
}

void BranchProfile::add(std::string_view buildId, std::uint32_t address, const BlockCounts& counts) {
  if (isBuildId(buildId)) m_modules[std::string(buildId)][address].add(counts);
}

void BranchProfile::addProgram(std::string_view buildId, std::uint64_t records) {
  if (records == 0 || !isBuildId(buildId)) return;
  m_modules.try_emplace(std::string(buildId));
  std::uint64_t& all = m_programs[std::string(buildId)];
  all = sum(all, records);
}

void BranchProfile::add(const BranchProfile& other, std::string_view buildId) {
  if (const ModuleProfile* module = other.find(buildId))
    for (const auto& [address, counts] : *module) add(buildId, address, counts);
  addProgram(buildId, other.programRecordsOf(buildId));
}

std::uint64_t BranchProfile::recordsOf(std::string_view buildId) const {
  std::uint64_t records = 0;
  if (const ModuleProfile* module = find(buildId))
    for (const auto& [address, counts] : *module) records = sum(records, counts.begun);
  return records;
}

std::uint64_t BranchProfile::programRecordsOf(std::string_view buildId) const {
  const auto program = m_programs.find(buildId);
  return program == m_programs.end() ? 0 : program->second;
}

std::uint64_t BranchProfile::records() const {
  std::uint64_t records = 0;
  for (const auto& [buildId, module] : m_modules) records = sum(records, recordsOf(buildId));
  return records;
}

}  // namespace traceback::model
