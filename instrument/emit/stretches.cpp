#include "instrument/emit/stretches.h"

namespace traceback::instrument {

namespace {

// Places in the order of the code, as they are come to.
class Places {
 public:
  Places(const CodeBuilder& code, std::span<const Label> labels) : m_code(code), m_labels(labels) {}

  bool has(std::uint32_t offset) {  // rising from call to call
    while (m_next < m_labels.size() && m_code.offsetOf(m_labels[m_next]) < offset) ++m_next;
    return m_next < m_labels.size() && m_code.offsetOf(m_labels[m_next]) == offset;
  }

 private:
  const CodeBuilder& m_code;
  const std::span<const Label> m_labels;
  std::size_t m_next = 0;
};

}  // namespace

std::vector<Stretch> stretchesOf(const CodeBuilder& code, VirtAddr function, std::span<const Label> apart,
                                 std::span<const Label> exact) {
  std::vector<Stretch> stretches;
  Places separate(code, apart), asThemselves(code, exact);
  for (const CodeBuilder::Item& item : code.items()) {
    if (item.size == 0) continue;
    const Origin& origin = code.origin(item);
    const bool isApart = separate.has(item.offset), isExact = asThemselves.has(item.offset);
    // All of a moved branch stands for it, however long it is now.
    const bool isMoved = item.kind >= CodeBuilder::Item::Kind::Jump && !isExact;
    const Stretch stretch{item.offset, std::uint32_t(origin.address.value - function.value),
                          std::uint8_t(origin.size), origin.fixed || isMoved, isApart};
    if (!stretches.empty() && !isApart && stretch.fixed && stretches.back().fixed &&
        stretch.original == stretches.back().original)
      continue;
    stretches.push_back(stretch);
  }
  stretches.shrink_to_fit();
  return stretches;
}

}  // namespace traceback::instrument
