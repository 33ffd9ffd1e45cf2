// One machine instruction, as far as a rewriter must know it: its length, its flow, what it needs patched
// when it moves, and its effect on general registers and flags.
//
// Effects are taken from Zydis and are safe to rely on in one direction: `reads` may name too much, `kills`
// never does. An instruction with effects that cannot be told exactly reads everything. What those need that
// control goes to is not theirs: see liveness.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "model/ids.h"

namespace traceback::instrument {

using model::VirtAddr;

// One bit a general register, x86 numbering (0 rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp, 5 rbp, 6 rsi, 7 rdi, 8..
// r8..).
using RegisterSet = std::uint16_t;
inline constexpr RegisterSet kAllRegisters = 0xFFFF;
inline constexpr unsigned kRax = 0, kRcx = 1, kRsp = 4, kR10 = 10, kR11 = 11;
constexpr RegisterSet registerBit(unsigned number) { return RegisterSet(1u << number); }

// Status flags, one bit each: CF PF AF ZF SF OF (DF is never touched by what we add).
using FlagSet = std::uint8_t;
inline constexpr FlagSet kAllFlags = 0x3F;
// The lower half of xmm15, which is followed as the flags are: through the whole module.
inline constexpr FlagSet kXmm15 = 0x40;

enum class Flow : std::uint8_t {
  Next,          // goes on to the next instruction
  Jump,          // direct
  Branch,        // direct, conditional
  ShortBranch,   // jrcxz, jecxz, loop: conditional, with an 8-bit displacement only
  Call,          // direct
  IndirectJump,
  IndirectCall,
  Return,
  Stop,          // hlt, ud2, int3: never goes on
};

constexpr bool isCall(Flow flow) { return flow == Flow::Call || flow == Flow::IndirectCall; }

// Whether what stands behind such an instruction may run next, if only as a call returns.
constexpr bool goesOn(Flow flow) {
  return flow == Flow::Next || flow == Flow::Branch || flow == Flow::ShortBranch || isCall(flow);
}

inline constexpr std::int32_t kStackUnknown = INT32_MIN;

struct Instruction {
  VirtAddr address;
  std::uint8_t length = 0;
  Flow flow = Flow::Next;
  bool isNop = false;
  bool isEndbr64 = false;
  bool unsafe = false;              // must not be moved: see decode()
  std::uint8_t ripOffset = 0;       // where its rip-relative displacement stands; 0: it has none
  std::uint8_t indirectRegister = 0xFF;  // of an indirect jump or call through a register; 0xFF: memory
  bool leavesXmm15 = true;  // to others: neither reads nor writes it, nor would be hindered by them
  VirtAddr target;                  // of a direct jump, branch or call
  VirtAddr ripTarget;               // that the rip-relative operand addresses
  bool isLea = false;
  bool namesBelowStack = false;  // an operand in memory, or an address, below the stack pointer
  bool storesOnStack = false;  // at a constant distance from the stack pointer
  bool usesSplitStackLimit = false;  // %fs:0x70, as code of -fsplit-stack does
  // A 32-bit displacement without rip, and an immediate of at least 32 bits: in a file that is loaded where
  // it was linked they may be addresses. 0: none.
  std::uint32_t displacement = 0;
  std::uint32_t immediate = 0;
  // By how many bytes it lowers the stack pointer once it, or what it calls, has come back; kStackUnknown if
  // that cannot be told. With storesOnStack: where that is, from the stack pointer, which stays as it is.
  std::int32_t stack = 0;
  RegisterSet reads = 0;
  RegisterSet kills = 0;  // written whole and without condition
  RegisterSet changes = 0;  // written at all
  RegisterSet loads = 0;  // the one that it brings in whole from memory, and does nothing else
  RegisterSet saves = 0;  // the one that it puts on the stack whole, and does nothing else
  FlagSet flagsRead = 0;  // and kXmm15
  FlagSet flagsKilled = 0;  // and kXmm15
  FlagSet flagsChanged = 0;  // written at all

  VirtAddr end() const { return {address.value + length}; }
  bool endsBlock() const { return flow != Flow::Next; }
};

// Decodes the instruction at the front of `bytes`; nothing if there is none. `unsafe` is set for what cannot
// run elsewhere unchanged: far transfers, transactions, address-size prefixes on rip, xbegin, 16-bit
// branches.
std::optional<Instruction> decode(std::span<const std::byte> bytes, VirtAddr address);

}  // namespace traceback::instrument
