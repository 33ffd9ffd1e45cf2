#include "tests/builders/map_text.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <span>
#include <sstream>

namespace traceback::tests {

using format::BlockEnd;

namespace {

[[noreturn]] void wrong(const std::string& what) {
  std::cerr << "map text: " << what << '\n';
  std::exit(2);
}

std::uint32_t number(const std::string& text, int base) {
  return static_cast<std::uint32_t>(std::stoul(text, nullptr, base));
}

template <typename T>
void append(std::vector<std::byte>& out, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

MapText::MapText(std::string_view text) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; parts >> word;) words.push_back(word);
    if (words.empty()) continue;
    if (words[0] == "function" && words.size() == 3) {
      Function function;
      function.name = words[1];
      function.entry.original = number(words[2], 16);
      function.entry.copy = function.entry.original + 0x100000;
      m_functions.push_back(std::move(function));
    } else if (words[0] == "left" && words.size() == 5) {
      Function function;
      function.name = words[1];
      function.entry.original = number(words[2], 16);
      function.left = number(words[3], 10);
      function.entry.skipReason = number(words[4], 10);
      m_functions.push_back(std::move(function));
    } else if (words[0] == "version" && words.size() == 2) {
      m_version = number(words[1], 10);
    } else if (words[0] == "dag" && !m_functions.empty()) {
      auto& function = m_functions.back();
      Dag dag;
      if (words.size() > 1) dag.entry.bits = static_cast<std::uint8_t>(number(words[1], 10));
      dag.entry.firstBlock = static_cast<std::uint32_t>(function.blocks.size());
      function.dags.push_back(dag);
    } else if (words.size() >= 3 && !m_functions.empty() && !m_functions.back().dags.empty()) {
      readBlock(words, line);
    } else {
      wrong("cannot read '" + line + "'");
    }
  }
  finish();
}

void MapText::readBlock(const std::vector<std::string>& words, const std::string& line) {
  static const std::map<std::string, BlockEnd> ends = {
      {"fall", BlockEnd::FallThrough}, {"jump", BlockEnd::Jump},        {"branch", BlockEnd::Branch},
      {"multi", BlockEnd::Multiway},   {"call", BlockEnd::Call},        {"icall", BlockEnd::IndirectCall},
      {"tail", BlockEnd::TailJump},    {"away", BlockEnd::UnknownJump}, {"return", BlockEnd::Return},
      {"trap", BlockEnd::Trap}};
  static const std::map<std::string, std::uint16_t> flags = {
      {"entry", format::kBlockEntry},       {"returnpoint", format::kBlockReturnPoint},
      {"pad", format::kBlockLandingPad},    {"loop", format::kBlockLoopHead},
      {"table", format::kBlockTableTarget}, {"taken", format::kBlockBitTaken},
      {"pass0", format::kBlockPassesHead0}, {"pass1", format::kBlockPassesHead1},
      {"into", format::kBlockPassesEntry}};
  auto& function = m_functions.back();
  Block block;
  block.name = function.name + "." + words[0];
  block.entry.size = number(words[1], 10);
  block.entry.start = function.blocks.empty()
                          ? static_cast<std::uint32_t>(function.entry.original)
                          : function.blocks.back().entry.start + function.blocks.back().entry.size;
  block.entry.bit = format::kNoBit;
  if (function.blocks.empty()) block.entry.flags = format::kBlockEntry;
  const auto end = ends.find(words[2]);
  if (end == ends.end()) wrong("unknown end in '" + line + "'");
  block.entry.end = end->second;
  std::size_t next = 3;
  const auto operand = [&] { return next < words.size() ? words[next++] : std::string("-"); };
  switch (block.entry.end) {
    case BlockEnd::Call:
      block.entry.target = number(operand(), 16);
      [[fallthrough]];
    case BlockEnd::FallThrough:
    case BlockEnd::Jump:
    case BlockEnd::IndirectCall:
      block.successors[0] = operand();
      break;
    case BlockEnd::Branch:
      block.successors[0] = operand();
      block.successors[1] = operand();
      if (block.successors[0] == "-") block.entry.flags |= format::kBlockTailBranch;
      break;
    case BlockEnd::TailJump:
      block.entry.target = number(operand(), 16);
      break;
    default:
      break;
  }
  for (; next < words.size(); ++next) {
    const auto& word = words[next];
    if (word.starts_with("bit=")) {
      block.entry.bit = static_cast<std::uint8_t>(number(word.substr(4), 10));
    } else if (word.starts_with("own=")) {
      block.own = number(word.substr(4), 16);
    } else if (word.starts_with("at=")) {
      block.entry.start = number(word.substr(3), 16);
    } else if (const auto flag = flags.find(word); flag != flags.end()) {
      block.entry.flags |= flag->second;
    } else {
      wrong("unknown option in '" + line + "'");
    }
  }
  auto& dag = function.dags.back().entry;
  const bool isHead = dag.blockCount == 0;
  block.hasProbe = isHead || (m_version == 1 && block.entry.bit != format::kNoBit);
  if (isHead && m_version > 1) block.entry.flags |= format::kBlockHead;
  ++dag.blockCount;
  if (block.entry.bit != format::kNoBit)
    dag.bits = std::max<std::uint8_t>(dag.bits, static_cast<std::uint8_t>(block.entry.bit + 1));
  function.blocks.push_back(std::move(block));
}

void MapText::finish() {
  for (auto& function : m_functions) {
    for (auto& dag : function.dags) {
      const std::uint32_t run = std::uint32_t{1} << dag.entry.bits;
      m_codeSpan = (m_codeSpan + run - 1) / run * run;
      dag.entry.code = m_codeSpan;
      m_codeSpan += run;
    }
    auto copy = function.entry.copy;
    auto end = function.entry.original;
    for (auto& block : function.blocks) {
      for (int i = 0; i < 2; ++i) {
        block.entry.successor[i] = format::kNoBlock;
        if (block.successors[i].empty() || block.successors[i] == "-") continue;
        const auto name = function.name + "." + block.successors[i];
        const auto found = std::ranges::find(function.blocks, name, &Block::name);
        if (found == function.blocks.end()) wrong("no block " + name);
        block.entry.successor[i] = static_cast<std::uint32_t>(found - function.blocks.begin());
      }
      if (block.own != 0) block.entry.successor[1] = block.own;
      // Who falls into a head past its probe jumps over that.
      const auto* const above = &block == &function.blocks.front() ? nullptr : &block - 1;
      const unsigned edge = above != nullptr && above->entry.end == format::BlockEnd::Branch ? 1 : 0;
      if (block.hasProbe && above != nullptr && format::passesHead(above->entry, edge) &&
          above->entry.successor[edge] == static_cast<std::uint32_t>(&block - function.blocks.data())) {
        function.addresses.push_back({static_cast<std::uint32_t>(copy), block.entry.start});
        copy += kPassingSize;
      }
      if (block.hasProbe) {
        function.addresses.push_back(
            {static_cast<std::uint32_t>(copy), block.entry.start | format::kAddressFixed});
        copy += kProbeSize;
      }
      block.copy = copy;
      function.addresses.push_back({static_cast<std::uint32_t>(copy), block.entry.start});
      copy += block.entry.size;
      end = std::max<std::uint64_t>(end, block.entry.start + block.entry.size);
    }
    function.entry.originalSize =
        std::max(function.left, static_cast<std::uint32_t>(end - function.entry.original));
    function.entry.copySize = static_cast<std::uint32_t>(copy - function.entry.copy);
  }
  m_codeSpan = std::max(m_codeSpan, 1U);
}

std::array<std::uint8_t, 16> MapText::id() const {
  std::array<std::uint8_t, 16> id{};
  id.fill(0x5A);
  return id;
}

std::vector<std::byte> MapText::bytes() const {
  format::MapHeader header{};
  header.magic = format::kMapMagic;
  header.version = m_version;
  header.headerSize = sizeof header;
  std::ranges::copy(id(), header.mapId);
  header.codeSpan = m_codeSpan;
  header.buildIdSize = 4;
  std::memset(header.buildId, 0xAB, 4);
  header.imageStart = 0;
  header.imageEnd = 0x1000000;

  std::string strings(1, '\0');
  const auto addString = [&](const std::string& string) {
    const auto at = static_cast<std::uint32_t>(strings.size());
    strings += string;
    strings += '\0';
    return at;
  };
  header.originalName = addString("/src/prog");
  std::vector<format::FunctionEntry> functions;
  std::vector<format::DagEntry> dags;
  std::vector<format::BlockEntry> blocks;
  std::vector<format::AddressEntry> addresses;
  auto sorted = m_functions;
  std::ranges::sort(sorted, {}, [](const Function& function) { return function.entry.original; });
  for (const auto& function : sorted) {
    auto entry = function.entry;
    entry.name = function.name == "-" ? 0 : addString(function.name);
    entry.firstDag = static_cast<std::uint32_t>(dags.size());
    entry.dagCount = static_cast<std::uint32_t>(function.dags.size());
    entry.firstBlock = static_cast<std::uint32_t>(blocks.size());
    entry.blockCount = static_cast<std::uint32_t>(function.blocks.size());
    entry.firstAddress = static_cast<std::uint32_t>(addresses.size());
    entry.addressCount = static_cast<std::uint32_t>(function.addresses.size());
    functions.push_back(entry);
    for (const auto& dag : function.dags) dags.push_back(dag.entry);
    for (const auto& block : function.blocks) blocks.push_back(block.entry);
    addresses.insert(addresses.end(), function.addresses.begin(), function.addresses.end());
  }
  header.functionCount = static_cast<std::uint32_t>(functions.size());
  header.dagCount = static_cast<std::uint32_t>(dags.size());
  header.blockCount = static_cast<std::uint32_t>(blocks.size());
  header.addressCount = static_cast<std::uint32_t>(addresses.size());
  header.stringBytes = static_cast<std::uint32_t>(strings.size());

  std::vector<std::byte> out;
  append<format::MapHeader>(out, std::span(&header, 1));
  append<format::FunctionEntry>(out, functions);
  append<format::DagEntry>(out, dags);
  append<format::BlockEntry>(out, blocks);
  append<format::AddressEntry>(out, addresses);
  append<char>(out, std::span(strings.data(), strings.size()));
  return out;
}

const MapText::Block& MapText::block(std::string_view name) const {
  for (const auto& function : m_functions) {
    const auto found = std::ranges::find(function.blocks, name, &Block::name);
    if (found != function.blocks.end()) return *found;
  }
  wrong("no block " + std::string(name));
}

std::uint32_t MapText::headCode(std::string_view name) const {
  for (const auto& function : m_functions) {
    for (const auto& dag : function.dags) {
      if (function.blocks[dag.entry.firstBlock].name == name) return dag.entry.code;
    }
  }
  wrong("no head " + std::string(name));
}

std::uint32_t MapText::bitOf(std::string_view name) const {
  const auto bit = block(name).entry.bit;
  if (bit == format::kNoBit) wrong("no bit: " + std::string(name));
  return std::uint32_t{1} << bit;
}

std::uint64_t MapText::copyOf(std::string_view place) const {
  if (place.ends_with("-probe")) return block(place.substr(0, place.size() - 6)).copy - kProbeSize;
  const auto plus = place.find('+');
  const auto offset = plus == std::string_view::npos ? 0UL : std::stoul(std::string(place.substr(plus + 1)));
  return block(place.substr(0, plus)).copy + offset;
}

}  // namespace traceback::tests
