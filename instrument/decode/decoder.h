// Zydis, set up for 64-bit code.
#pragma once

#include <Zydis/Zydis.h>

#include <optional>

namespace traceback::instrument {

const ZydisDecoder& decoder();

// The general register that holds it, x86 numbering; nothing for what is in none.
std::optional<unsigned> generalRegister(ZydisRegister reg);

}  // namespace traceback::instrument
