#include "instrument/decode/decoder.h"

namespace traceback::instrument {

const ZydisDecoder& decoder() {
  static const ZydisDecoder instance = [] {
    ZydisDecoder d;
    ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return d;
  }();
  return instance;
}

std::optional<unsigned> generalRegister(ZydisRegister reg) {
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) return std::nullopt;
  return unsigned(whole - ZYDIS_REGISTER_RAX);
}

}  // namespace traceback::instrument
