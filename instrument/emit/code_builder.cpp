#include "instrument/emit/code_builder.h"

#include <array>
#include <cstring>

namespace traceback::instrument {
namespace {

constexpr std::uint32_t kNoLabel = 0xFFFF'FFFF;
constexpr std::uint8_t kShortSize = 2;
constexpr std::uint8_t kLongJump = 5;
constexpr std::uint8_t kLongBranch = 6;
constexpr std::uint32_t kStore = 8;
// One instruction, by its size.
constexpr std::array<std::array<std::uint8_t, 4>, 5> kNops = {
    {{}, {0x90}, {0x66, 0x90}, {0x0F, 0x1F, 0x00}, {0x0F, 0x1F, 0x40, 0x00}}};
constexpr std::array<std::uint8_t, 6> kCallSlot = {0xFF, 0x15}, kJumpSlot = {0xFF, 0x25};

void store32(std::span<std::byte> out, std::size_t offset, std::int64_t value) {
  const auto narrow = std::int32_t(value);
  std::memcpy(out.data() + offset, &narrow, sizeof narrow);
}

}  // namespace

Label CodeBuilder::newLabel() {
  m_labels.push_back(0xFFFF'FFFF);
  return {std::uint32_t(m_labels.size() - 1)};
}

void CodeBuilder::bind(Label label) { m_labels[label.index] = std::uint32_t(m_items.size()); }

void CodeBuilder::setOrigin(Origin origin) { m_origins.push_back(origin); }

CodeBuilder::Item& CodeBuilder::add(Item::Kind kind, std::span<const std::uint8_t> code) {
  Item item;
  item.kind = kind;
  item.size = std::uint8_t(code.size());
  item.bytes = std::uint32_t(m_pool.size());
  item.origin = std::uint32_t(m_origins.size() - 1);
  m_pool.insert(m_pool.end(), code.begin(), code.end());
  m_items.push_back(item);
  m_exact.push_back(0);
  return m_items.back();
}

void CodeBuilder::bytes(std::span<const std::uint8_t> code) { add(Item::Kind::Bytes, code); }

void CodeBuilder::padForOneStore(std::uint32_t size) { add(Item::Kind::Padding, {}).bytes = size; }

void CodeBuilder::ripAbsolute(std::span<const std::uint8_t> code, std::uint8_t dispOffset, VirtAddr target) {
  Item& item = add(Item::Kind::RipAbsolute, code);
  item.dispOffset = dispOffset;
  item.target = target;
}

void CodeBuilder::ripLabel(std::span<const std::uint8_t> code, std::uint8_t dispOffset, Label label) {
  Item& item = add(Item::Kind::RipLabel, code);
  item.dispOffset = dispOffset;
  item.label = label;
}

void CodeBuilder::ripTable(std::span<const std::uint8_t> code, std::uint8_t dispOffset, VirtAddr function) {
  Item& item = add(Item::Kind::RipTable, code);
  item.dispOffset = dispOffset;
  item.target = function;
}

void CodeBuilder::jumpTable(std::span<const std::uint8_t> code, std::uint8_t dispOffset,
                            std::uint32_t number) {
  Item& item = add(Item::Kind::JumpTable, code);
  item.dispOffset = dispOffset;
  item.target = {number};
}

void CodeBuilder::jump(Label label) {
  Item& item = add(Item::Kind::Jump, {});
  item.label = label;
  item.size = kShortSize;
}

void CodeBuilder::jumpLong(Label label) {
  Item& item = add(Item::Kind::Jump, {});
  item.label = label;
  item.size = kLongJump;
  item.isLong = true;
}

void CodeBuilder::jump(VirtAddr original, bool passesEntry) {
  Item& item = add(Item::Kind::Jump, {});
  item.passesEntry = passesEntry;
  item.target = original;
  item.size = kLongJump;
  item.isLong = true;
}

void CodeBuilder::branch(std::uint8_t condition, Label label) {
  Item& item = add(Item::Kind::Branch, {});
  item.label = label;
  item.condition = condition;
  item.size = kShortSize;
}

void CodeBuilder::branch(std::uint8_t condition, VirtAddr original) {
  Item& item = add(Item::Kind::Branch, {});
  item.target = original;
  item.condition = condition;
  item.size = kLongBranch;
  item.isLong = true;
}

void CodeBuilder::call(VirtAddr original, bool passesEntry) {
  Item& item = add(Item::Kind::Call, {});
  item.passesEntry = passesEntry;
  item.target = original;
  item.size = kLongJump;
}

void CodeBuilder::jumpExactly(VirtAddr address) {
  jump(address);
  m_exact.back() = 1;
}

void CodeBuilder::branchExactly(std::uint8_t condition, VirtAddr address) {
  branch(condition, address);
  m_exact.back() = 1;
}

void CodeBuilder::callExactly(VirtAddr address) {
  call(address);
  m_exact.back() = 1;
}

void CodeBuilder::callRoutine(unsigned number) {
  Item& item = add(Item::Kind::CallRoutine, {});
  item.target = {number};
  item.size = kLongJump;
}

void CodeBuilder::callThrough(VirtAddr slot) {
  Item& item = add(Item::Kind::CallSlot, kCallSlot);
  item.dispOffset = 2;
  item.target = slot;
}

void CodeBuilder::jumpThrough(VirtAddr slot) {
  Item& item = add(Item::Kind::JumpSlot, kJumpSlot);
  item.dispOffset = 2;
  item.target = slot;
}

void CodeBuilder::layOut() {
  std::uint32_t offset = 0;
  for (Item& item : m_items) {
    item.offset = offset;
    if (item.kind == Item::Kind::Padding)
      item.size = std::uint8_t(offset % kStore + item.bytes > kStore ? kStore - offset % kStore : 0);
    offset += item.size;
  }
  m_size = offset;
}

std::uint32_t CodeBuilder::offsetOf(Label label) const {
  const std::uint32_t item = m_labels[label.index];
  return item < m_items.size() ? m_items[item].offset : m_size;
}

std::uint32_t CodeBuilder::endOf(Label label) const {
  const Item& item = m_items[m_labels[label.index]];
  return item.offset + item.size;
}

// Short until shown to be too far, and then never again, so this ends.
void CodeBuilder::settle() {
  for (bool changed = true; changed;) {
    changed = false;
    layOut();
    for (Item& item : m_items) {
      if ((item.kind != Item::Kind::Jump && item.kind != Item::Kind::Branch) || item.isLong) continue;
      const std::int64_t distance = std::int64_t(offsetOf(item.label)) - (item.offset + kShortSize);
      if (distance >= -128 && distance <= 127) continue;
      item.isLong = true;
      item.size = item.kind == Item::Kind::Jump ? kLongJump : kLongBranch;
      changed = true;
    }
  }
}

std::vector<std::byte> CodeBuilder::encode(std::vector<Reference>& references) const {
  std::vector<std::byte> out(m_size);
  for (std::size_t i = 0; i < m_items.size(); ++i) {
    const Item& item = m_items[i];
    const auto code = std::span(out).subspan(item.offset, item.size);
    const bool inside = item.label.index != kNoLabel;
    const auto copy = item.passesEntry ? Reference::To::BehindEntry : Reference::To::Copy;
    // Fills a displacement to the label, or leaves it to whoever places the code.
    const auto refer = [&](std::size_t at, bool resolved) {
      if (inside)
        store32(code, at, std::int64_t(offsetOf(item.label)) - (item.offset + item.size));
      else
        references.push_back({item.target, std::uint32_t(item.offset + at), std::uint8_t(item.size - at - 4),
                              item.kind == Item::Kind::JumpTable ? Reference::To::JumpTable
                              : resolved                         ? copy
                                                                 : Reference::To::Itself,
                              item.kind == Item::Kind::RipTable, item.kind == Item::Kind::CallRoutine});
    };
    switch (item.kind) {
      case Item::Kind::Bytes:
      case Item::Kind::RipAbsolute:
      case Item::Kind::RipLabel:
      case Item::Kind::RipTable:
      case Item::Kind::CallSlot:
      case Item::Kind::JumpSlot:
      case Item::Kind::JumpTable:
        std::memcpy(code.data(), m_pool.data() + item.bytes, item.size);
        if (item.kind != Item::Kind::Bytes) refer(item.dispOffset, false);
        break;
      case Item::Kind::Padding:
        std::memcpy(code.data(), kNops[item.size].data(), item.size);
        break;
      case Item::Kind::Call:
      case Item::Kind::CallRoutine:
        code[0] = std::byte{0xE8};
        refer(1, item.kind == Item::Kind::Call && m_exact[i] == 0);
        break;
      case Item::Kind::Jump:
      case Item::Kind::Branch: {
        std::size_t at = 0;
        if (item.kind == Item::Kind::Jump) {
          code[at++] = item.isLong ? std::byte{0xE9} : std::byte{0xEB};
        } else if (item.isLong) {
          code[at++] = std::byte{0x0F};
          code[at++] = std::byte(0x80 | item.condition);
        } else {
          code[at++] = std::byte(0x70 | item.condition);
        }
        if (item.isLong)
          refer(at, m_exact[i] == 0);
        else
          code[at] = std::byte(std::int64_t(offsetOf(item.label)) - (item.offset + item.size));
        break;
      }
    }
  }
  return out;
}

}  // namespace traceback::instrument
