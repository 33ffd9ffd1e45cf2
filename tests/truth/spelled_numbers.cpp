#include "tests/truth/spelled_numbers.h"

#include <algorithm>
#include <format>

namespace traceback::truth {

namespace {

constexpr unsigned kBits = 16;

enum class What : std::uint8_t { Begin, Zero, One, Round, End };
struct Mark {
  std::uint32_t address;
  What what;
  unsigned bit;
};

Attempt<std::vector<Mark>> marksOf(const CodeListing& listing, const std::string& speller) {
  std::vector<Mark> marks;
  QString missing;
  const auto add = [&](const std::string& name, What what, unsigned bit) {
    if (const auto address = listing.symbol(speller + name))
      marks.push_back({*address, what, bit});
    else
      missing = QString::fromStdString(speller + name);
  };
  add("Spell", What::Begin, 0);  // the function itself
  add("_round", What::Round, 0);
  add("_end", What::End, 0);
  for (unsigned bit = 0; bit < kBits; ++bit) {
    add(std::format("_zero_{}", bit), What::Zero, bit);
    add(std::format("_one_{}", bit), What::One, bit);
  }
  if (!missing.isEmpty()) return std::unexpected("no mark " + missing);
  std::ranges::sort(marks, {}, &Mark::address);
  return marks;
}

class Speller {
 public:
  explicit Speller(std::string name) : m_name(std::move(name)) {}

  // False if this cannot follow what came before.
  bool take(const Mark& mark) {
    if (mark.what == What::Begin) {
      if (m_out.isOpen) return fail("begins within a number");
      m_out.isOpen = true;
      m_out.openBits = m_rounds = 0;
      m_out.openNumber = 0;
      return true;
    }
    if (!m_out.isOpen)
      return m_out.numbers.empty() || fail("goes on without a beginning");  // the window's start
    switch (mark.what) {
      case What::Zero:
      case What::One:
        if (mark.bit != m_out.openBits)
          return fail(std::format("bit {} instead of bit {}", mark.bit, m_out.openBits));
        if (mark.what == What::One) m_out.openNumber = std::uint16_t(m_out.openNumber | 1U << mark.bit);
        ++m_out.openBits;
        return true;
      case What::Round:
        ++m_rounds;
        return m_out.openBits == kBits || fail("a loop before all bits");
      default:
        break;
    }
    if (m_out.openBits != kBits) return fail("ends before all bits");
    if (m_rounds != (m_out.openNumber & 7U)) return fail(std::format("{} rounds", m_rounds));
    if (!m_out.numbers.empty() && m_out.openNumber != std::uint16_t(m_out.numbers.back() + 1))
      return fail("does not follow the number before");
    m_out.numbers.push_back(m_out.openNumber);
    m_out.isOpen = false;
    return true;
  }
  const Spelled& result() const { return m_out; }
  QString error() const { return m_error; }

 private:
  bool fail(const std::string& what) {
    m_error = QString::fromStdString(
        std::format("{}: {} (at {} of which {} bits are known, after {} numbers up to {})", m_name, what,
                    m_out.openNumber, m_out.openBits, m_out.numbers.size(),
                    m_out.numbers.empty() ? 0 : m_out.numbers.back()));
    return false;
  }

  std::string m_name;
  Spelled m_out;
  unsigned m_rounds = 0;
  QString m_error;
};

}  // namespace

Attempt<Spelled> SpelledNumbers::read(const TracedThread& thread, const CodeListing& listing,
                                      const std::string& speller) {
  const auto marks = marksOf(listing, speller);
  if (!marks) return std::unexpected(marks.error());
  Speller state(speller);
  for (const TracedPiece& piece : thread.pieces)
    for (auto mark = std::ranges::lower_bound(*marks, piece.start, {}, &Mark::address);
         mark != marks->end() && mark->address < piece.end; ++mark)
      if (!state.take(*mark)) return std::unexpected(state.error());
  return state.result();
}

std::optional<QString> contradiction(const Spelled& spelled, std::uint64_t count) {
  const auto n = std::uint16_t(count);
  if (spelled.isOpen) {
    const auto mask = std::uint16_t((1U << spelled.openBits) - 1);
    if ((n & mask) != spelled.openNumber)
      return QString("the count is %1, but the number begun has %2 in its lowest %3 bits")
          .arg(n)
          .arg(spelled.openNumber)
          .arg(spelled.openBits);
  }
  if (spelled.numbers.empty()) {
    if (count <= 1) return std::nullopt;
    return QString("the count is %1, but no number was spelled").arg(n);
  }
  const std::uint16_t last = spelled.numbers.back();
  if (last == n && !spelled.isOpen) return std::nullopt;
  if (last == std::uint16_t(n - 1)) return std::nullopt;
  return QString("the count is %1, but the last number spelled is %2").arg(n).arg(last);
}

}  // namespace traceback::truth
