// Machine code in the making: a list of items whose sizes and displacements are settled at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "model/ids.h"

namespace traceback::instrument {

using model::VirtAddr;

struct Label {
  std::uint32_t index = 0xFFFF'FFFF;
};

// Every item belongs to an original instruction, whose unwind state holds while it runs.
struct Origin {
  VirtAddr address;
  std::uint32_t size = 0;
  bool fixed = false;   // the item is not the instruction itself: all of it stands for `address`
};

class CodeBuilder {
 public:
  // A displacement to somewhere outside of this code, to be filled in once it has a place.
  struct Reference {
    VirtAddr target;
    std::uint32_t field = 0;   // offset of its 32 bits
    std::uint8_t tail = 0;     // bytes of the instruction behind them
    // To `target` itself; to the copy of what is there, if there is one; to behind the probe of that copy's
    // entry. JumpTable: no distance, but what leads from the program's table to the function's own of the
    // number `target`, or to that by its address (jump_tables.h).
    enum class To : std::uint8_t { Itself, Copy, BehindEntry, JumpTable } to = To::Itself;
    bool table = false;  // to the lookup table of the function at `target`, which has one
    bool routine = false;  // to the record routine of the number `target`
  };
  static_assert(sizeof(Reference) == 16);

  struct Item {
    enum class Kind : std::uint8_t {
      Bytes,  // as they are
      Padding,  // NOPs, so that the next item, of `bytes` bytes, does not cross a multiple of eight
      RipAbsolute,  // bytes with a 32-bit displacement to `target`, which stays where it is
      RipLabel,  // the same, to `label`
      RipTable,  // the same, to the lookup table of the function that starts at `target`
      JumpTable,  // bytes with a displacement that has the function's jump table of the number `target`
      Jump,  // jmp; to `label`, or to the copy of `target`
      Branch,  // jcc
      Call,  // call, of the copy of `target`
      CallSlot,  // call, of what the slot `target` has the address of
      JumpSlot,  // jmp
      CallRoutine,  // call, of the record routine of the number `target`
    };
    Kind kind = Kind::Bytes;
    std::uint8_t size = 0;  // as it stands
    std::uint8_t condition = 0;  // of a Branch
    std::uint8_t dispOffset = 0;  // of the displacement within the bytes
    bool isLong = false;  // a Jump or Branch with 32 bits of displacement
    bool passesEntry = false;  // of the function at `target`, a Jump or Call does
    std::uint32_t bytes = 0;  // index into the pool; of Padding: the size of what it is for
    std::uint32_t origin = 0;  // index into origins
    Label label;
    VirtAddr target;
    std::uint32_t offset = 0;  // from the start of the code, once settled
  };

  // `threadSlot`: where probes find their thread's segment (runtime/format/ring.h).
  explicit CodeBuilder(std::int32_t threadSlot) : m_threadSlot(threadSlot) {}
  std::int32_t threadSlot() const { return m_threadSlot; }

  Label newLabel();
  void bind(Label label);  // to the next item
  // What follows belongs to this instruction.
  void setOrigin(Origin origin);

  void bytes(std::span<const std::uint8_t> code);
  void bytes(std::initializer_list<std::uint8_t> code) { bytes(std::span(code.begin(), code.size())); }
  // So that what comes next, of that size, which is at least four, can be written over by one store, if the
  // code is placed at a multiple of eight.
  void padForOneStore(std::uint32_t size);
  void ripAbsolute(std::span<const std::uint8_t> code, std::uint8_t dispOffset, VirtAddr target);
  void ripLabel(std::span<const std::uint8_t> code, std::uint8_t dispOffset, Label label);
  void ripTable(std::span<const std::uint8_t> code, std::uint8_t dispOffset, VirtAddr function);
  void jumpTable(std::span<const std::uint8_t> code, std::uint8_t dispOffset, std::uint32_t number);
  void jump(Label label);
  void jumpLong(Label label);
  void jump(VirtAddr original, bool passesEntry = false);
  void branch(std::uint8_t condition, Label label);
  void branch(std::uint8_t condition, VirtAddr original);
  void call(VirtAddr original, bool passesEntry = false);
  // The same to an address that is not to be replaced by a copy's.
  void jumpExactly(VirtAddr address);
  void branchExactly(std::uint8_t condition, VirtAddr address);
  void callExactly(VirtAddr address);
  void callRoutine(unsigned number);
  // To the address that `slot` has.
  void callThrough(VirtAddr slot);
  void jumpThrough(VirtAddr slot);

  // Settles all sizes. After this offsets and size() are known; nothing may be added.
  void settle();
  std::uint32_t size() const { return m_size; }
  std::uint32_t offsetOf(Label label) const;
  std::uint32_t endOf(Label label) const;  // behind the item that the label is bound to
  std::span<const Item> items() const { return m_items; }
  const Origin& origin(const Item& item) const { return m_origins[item.origin]; }

  // The code, complete but for what it refers to outside. Only after settle().
  std::vector<std::byte> encode(std::vector<Reference>& references) const;

 private:
  Item& add(Item::Kind kind, std::span<const std::uint8_t> code);
  void layOut();

  std::vector<Item> m_items;
  std::vector<Origin> m_origins;
  std::vector<std::uint8_t> m_pool;
  std::vector<std::uint32_t> m_labels;  // item each is bound to
  std::vector<std::uint8_t> m_exact;  // by item: target is not resolved
  std::uint32_t m_size = 0;
  std::int32_t m_threadSlot;
};

}  // namespace traceback::instrument
