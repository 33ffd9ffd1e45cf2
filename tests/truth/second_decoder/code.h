// One instruction of either file, by Capstone; where Capstone knows none, by its length alone.
#pragma once

#include <capstone/capstone.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "tests/truth/second_decoder/liveness.h"

namespace traceback::truth {

struct Code {
  std::uint64_t address = 0;
  unsigned size = 0;
  std::array<unsigned char, 16> bytes{};
  unsigned id = 0;                // 0: Capstone does not know it
  std::uint64_t target = 0;       // of a direct jump or call
  bool direct = false;            // it is one
  std::uint64_t ripTarget = 0;    // of an operand relative to rip
  unsigned ripOffset = 0;         // of its displacement; 0 if none
  std::uint64_t imm = 0;
  std::int64_t disp = 0;
  unsigned reg0 = 0, reg1 = 0;    // register operands, by position
  unsigned base = 0, segment = 0;  // no base if there is an index too
  unsigned element = 0, index = 0, scale = 0;  // base, index and factor of an operand that has an index
  bool memoryFirst = false, memory = false;
  unsigned width = 0;             // of the memory operand
  Effects effects;
  std::uint16_t changes = 0;  // general registers that it writes, perhaps or in part

  std::span<const unsigned char> code() const { return {bytes.data(), size}; }
};

class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // The instruction that starts at `address`, with these bytes and perhaps more.
  bool decode(std::span<const unsigned char> bytes, std::uint64_t address, Code& out);
  std::string text(const Code& code) const;

 private:
  csh m_capstone = 0;
  cs_insn* m_insn = nullptr;
};

// Jumps that reach 127 bytes only.
bool isShortOnly(unsigned id);
// Whether nothing follows it.
bool endsFlow(unsigned id);
// Whether both are direct conditional jumps, and one goes where the other does not.
bool areContraries(const Code& one, const Code& other);

}  // namespace traceback::truth
