#include "tests/truth/code_listing.h"

#include <algorithm>

namespace traceback::truth {

Attempt<CodeListing> CodeListing::of(const QString& program) {
  const auto system = QProcessEnvironment::systemEnvironment();
  const auto disassembly = runToEnd("objdump", {"-d", "--no-show-raw-insn", program}, system);
  if (!disassembly) return std::unexpected(disassembly.error());
  CodeListing listing;
  for (const QByteArray& line : disassembly->output.split('\n')) {
    const qsizetype colon = line.indexOf(":\t");
    if (colon < 0) continue;
    bool isAddress = false;
    const std::uint32_t address = line.left(colon).trimmed().toUInt(&isAddress, 16);
    if (!isAddress) continue;
    listing.m_starts.push_back(address);
    listing.m_text[address] = QString::fromUtf8(line.mid(colon + 2).simplified());
  }
  std::ranges::sort(listing.m_starts);
  if (listing.m_starts.empty()) return std::unexpected(program + ": objdump shows no instruction");
  const auto symbols = runToEnd("nm", {program}, system);  // says nothing of a stripped file
  if (!symbols) return std::unexpected(symbols.error());
  for (const QByteArray& line : symbols->output.split('\n')) {
    const auto words = line.split(' ');
    if (words.size() != 3 || !QByteArray("tTwWiV").contains(words[1])) continue;
    const std::uint32_t address = words[0].toUInt(nullptr, 16);
    listing.m_names[address] = words[2].toStdString();
    listing.m_symbols[words[2].toStdString()] = address;
  }
  return listing;
}

Attempt<void> CodeListing::expand(const TracedPiece& piece, std::vector<std::uint32_t>& out) const {
  const auto first = std::ranges::lower_bound(m_starts, piece.start);
  auto end = std::ranges::lower_bound(m_starts, piece.end);
  const bool startFits = first != m_starts.end() && *first == piece.start;
  const bool endFits = end == m_starts.end() ? !piece.faulted : *end == piece.end || !piece.faulted;
  if (!startFits || !endFits || end < first)
    return std::unexpected(QString("no instructions begin at the ends of 0x%1 to 0x%2")
                               .arg(piece.start, 0, 16)
                               .arg(piece.end, 0, 16));
  if (piece.faulted) ++end;
  out.insert(out.end(), first, end);
  return {};
}

QString CodeListing::describe(std::uint32_t address) const {
  QString name;
  if (auto after = m_names.upper_bound(address); after != m_names.begin()) {
    --after;
    name = QString(" %1+0x%2").arg(QString::fromStdString(after->second)).arg(address - after->first, 0, 16);
  }
  const auto text = m_text.find(address);
  return QString("0x%1%2: %3")
      .arg(address, 0, 16)
      .arg(name, text == m_text.end() ? "no instruction" : text->second);
}

std::optional<std::uint32_t> CodeListing::symbol(const std::string& name) const {
  const auto found = m_symbols.find(name);
  if (found == m_symbols.end()) return std::nullopt;
  return found->second;
}

std::optional<QString> firstDifference(const std::vector<std::uint32_t>& truth,
                                       const std::vector<std::uint32_t>& traced, const CodeListing& listing) {
  const auto [a, b] = std::ranges::mismatch(truth, traced);
  if (a == truth.end() && b == traced.end()) return std::nullopt;
  const auto at = std::size_t(a - truth.begin());
  QString text = QString("the first %1 instructions are the same, of %2 executed and %3 traced\n")
                     .arg(at)
                     .arg(truth.size())
                     .arg(traced.size());
  for (std::size_t i = at < 6 ? 0 : at - 6; i < at; ++i)
    text += "    both    " + listing.describe(truth[i]) + "\n";
  for (std::size_t i = at; i < std::min(at + 5, truth.size()); ++i)
    text += "    executed " + listing.describe(truth[i]) + "\n";
  if (a == truth.end()) text += "    executed nothing more\n";
  for (std::size_t i = at; i < std::min(at + 5, traced.size()); ++i)
    text += "    traced   " + listing.describe(traced[i]) + "\n";
  if (b == traced.end()) text += "    traced   nothing more\n";
  return text;
}

}  // namespace traceback::truth
