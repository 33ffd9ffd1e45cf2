#include "instrument/unwind/eh_frame.h"

#include <algorithm>
#include <format>
#include <unordered_map>

namespace traceback::instrument {

using model::fail;
using model::Result;
using model::VirtAddr;

namespace {

struct Record {
  std::uint64_t offset = 0;  // of the length field
  std::uint64_t body = 0;    // of the identifier behind it
  std::uint64_t end = 0;
  std::uint32_t identifier = 0;
};

std::unexpected<model::Error> bad(std::string what, std::uint64_t offset) {
  return fail(std::format("unwind information (.eh_frame): {} in the entry at {:#x}", what, offset));
}

Result<std::vector<Record>> splitRecords(std::span<const std::byte> section, bool* terminated) {
  std::vector<Record> records;
  *terminated = false;
  ByteCursor cursor(section);
  while (cursor.left() > 0) {
    Record record;
    record.offset = cursor.position();
    const auto length = cursor.read<std::uint32_t>();
    if (cursor.failed()) return bad("truncated length", record.offset);
    if (length == 0) {
      *terminated = true;
      break;
    }
    if (length == 0xFFFF'FFFF) return bad("64-bit length", record.offset);
    if (length < 4 || length > cursor.left()) return bad("length outside of the section", record.offset);
    record.body = cursor.position();
    record.end = record.body + length;
    record.identifier = cursor.read<std::uint32_t>();
    cursor.take(length - 4);
    records.push_back(record);
  }
  return records;
}

// A cursor over a record, whose positions are those of the section.
ByteCursor openRecord(std::span<const std::byte> section, const Record& record) {
  return ByteCursor(section.first(record.end), record.body + 4);
}

Result<Cie> parseCie(std::span<const std::byte> section, std::uint64_t address, const Record& record) {
  Cie cie;
  cie.offset = record.offset;
  auto cursor = openRecord(section, record);
  cie.version = cursor.read<std::uint8_t>();
  if (cie.version != 1 && cie.version != 3) return bad(std::format("version {}", cie.version), record.offset);
  cie.augmentation = cursor.string();
  cie.codeAlignment = cursor.uleb();
  cie.dataAlignment = cursor.sleb();
  cie.returnRegister = cie.version == 1 ? cursor.read<std::uint8_t>() : cursor.uleb();
  if (cursor.failed()) return bad("truncated common part", record.offset);
  if (cie.augmentation.empty()) {
    cie.program = cursor.take(cursor.left());
    return cie;
  }
  if (cie.augmentation[0] != 'z') return bad("augmentation '" + cie.augmentation + "'", record.offset);
  cie.hasAugmentationData = true;
  const auto size = cursor.uleb();
  if (cursor.failed() || size > cursor.left()) return bad("truncated augmentation", record.offset);
  const std::size_t programStart = cursor.position() + size;
  ByteCursor data(section.first(programStart), cursor.position());
  for (const char letter : std::string_view(cie.augmentation).substr(1)) {
    switch (letter) {
      case 'R':
        cie.fdeEncoding = data.read<std::uint8_t>();
        break;
      case 'L':
        cie.lsdaEncoding = data.read<std::uint8_t>();
        break;
      case 'S':
        cie.signalFrame = true;
        break;
      case 'P':
        cie.personalityEncoding = data.read<std::uint8_t>();
        if (cie.personalityEncoding != kPointerOmitted) {
          cie.personality = readPointer(data, cie.personalityEncoding, address);
        }
        break;
      default:
        return bad("augmentation '" + cie.augmentation + "'", record.offset);
    }
  }
  if (data.failed())
    return bad("augmentation that is truncated or of an unknown pointer encoding", record.offset);
  cie.program = section.subspan(programStart, record.end - programStart);
  return cie;
}

Result<Fde> parseFde(std::span<const std::byte> section, std::uint64_t address, const Record& record,
                     const Cie& cie) {
  Fde fde;
  fde.offset = record.offset;
  auto cursor = openRecord(section, record);
  if ((cie.fdeEncoding & kPointerIndirect) != 0) return bad("indirect function address", record.offset);
  fde.startField = readPointer(cursor, cie.fdeEncoding, address);
  fde.start = VirtAddr{fde.startField.target};
  fde.size = readPointer(cursor, cie.fdeEncoding & kPointerFormatMask, 0).raw;
  if (cursor.failed())
    return bad("function range that is truncated or of an unknown encoding", record.offset);
  if (fde.size >> 63 != 0 || fde.size > ~fde.start.value)
    return bad("function range that wraps", record.offset);
  if (cie.hasAugmentationData) {
    const auto size = cursor.uleb();
    if (cursor.failed() || size > cursor.left()) return bad("truncated augmentation", record.offset);
    const std::size_t programStart = cursor.position() + size;
    if (cie.lsdaEncoding != kPointerOmitted) {
      ByteCursor data(section.first(programStart), cursor.position());
      fde.lsdaField = readPointer(data, cie.lsdaEncoding, address);
      if (data.failed()) return bad("bad pointer to exception table", record.offset);
      fde.lsda = VirtAddr{fde.lsdaField.target};
    }
    cursor.take(size);
  }
  fde.program = cursor.take(cursor.left());
  return fde;
}

Result<EhFrame> parseEntries(std::span<const std::byte> section, VirtAddr address, bool* terminated) {
  auto records = splitRecords(section, terminated);
  if (!records) return std::unexpected(std::move(records.error()));
  EhFrame frame;
  frame.address = address;
  frame.bytes = section.first(records->empty() ? 0 : records->back().end);
  std::unordered_map<std::uint64_t, std::uint32_t> cieAt;
  for (const auto& record : *records) {
    if (record.identifier != 0) continue;
    auto cie = parseCie(section, address.value, record);
    if (!cie) return std::unexpected(std::move(cie.error()));
    cieAt.emplace(record.offset, static_cast<std::uint32_t>(frame.cies.size()));
    frame.cies.push_back(std::move(*cie));
  }
  for (const auto& record : *records) {
    if (record.identifier == 0) continue;
    const auto found =
        record.identifier > record.body ? cieAt.end() : cieAt.find(record.body - record.identifier);
    if (found == cieAt.end()) return bad("reference to a common part that is not there", record.offset);
    auto fde = parseFde(section, address.value, record, frame.cies[found->second]);
    if (!fde) return std::unexpected(std::move(fde.error()));
    fde->cie = found->second;
    frame.fdes.push_back(*fde);
  }
  return frame;
}

}  // namespace

bool EhFrame::hasAbsolutePointers() const {
  const auto absolute = [](std::uint8_t encoding) {
    return encoding != kPointerOmitted && pointerBase(encoding) == kBaseAbsolute;
  };
  return std::ranges::any_of(cies, [&](const Cie& cie) { return absolute(cie.personalityEncoding); }) ||
         std::ranges::any_of(fdes, [&](const Fde& fde) {
           return absolute(cies[fde.cie].fdeEncoding) ||
                  (fde.lsda.value != 0 && absolute(cies[fde.cie].lsdaEncoding));
         });
}

Result<EhFrame> parseEhFrame(std::span<const std::byte> section, VirtAddr address) {
  bool terminated = false;
  return parseEntries(section, address, &terminated);
}

Result<EhFrameHeader> parseEhFrameHeader(std::span<const std::byte> bytes, VirtAddr address) {
  ByteCursor cursor(bytes);
  const auto version = cursor.read<std::uint8_t>();
  const auto frameEncoding = cursor.read<std::uint8_t>();
  const auto countEncoding = cursor.read<std::uint8_t>();
  const auto tableEncoding = cursor.read<std::uint8_t>();
  const auto frame = readPointer(cursor, frameEncoding, address.value, address.value);
  if (cursor.failed() || version != 1 || frame.target == 0 || (frameEncoding & kPointerIndirect) != 0) {
    return fail("unwind table header (.eh_frame_hdr) is truncated or of an unknown form");
  }
  EhFrameHeader header{.ehFrame = VirtAddr{frame.target}, .fdeCount = {}};
  if (countEncoding != kPointerOmitted && tableEncoding != kPointerOmitted) {
    header.fdeCount = readPointer(cursor, countEncoding, address.value, address.value).raw;
    if (cursor.failed())
      return fail("unwind table header (.eh_frame_hdr) is truncated or of an unknown form");
  }
  return header;
}

Result<EhFrame> readEhFrame(const loader::ElfImage& image) {
  const auto error = [&](std::string message) { return fail(std::move(message), image.path()); };
  const auto* segment = image.segment(PT_GNU_EH_FRAME);
  if (segment == nullptr) return error("no unwind table (PT_GNU_EH_FRAME)");
  const VirtAddr address{segment->p_vaddr};
  const auto headerBytes = image.fromAddress(address);
  if (!headerBytes) return error("the unwind table (PT_GNU_EH_FRAME) is not in a loaded segment");
  const auto header = parseEhFrameHeader(*headerBytes, address);
  if (!header) return error(header.error().message);
  auto section = image.fromAddress(header->ehFrame);
  if (!section) return error("unwind table header (.eh_frame_hdr) leads outside of the file");
  bool bounded = false;
  for (const auto& candidate : image.sections()) {
    if (candidate.sh_addr != header->ehFrame.value || image.sectionName(candidate) != ".eh_frame") continue;
    if (candidate.sh_size > section->size())
      return error("unwind information (.eh_frame) reaches beyond its segment");
    section = section->first(candidate.sh_size);
    bounded = true;
  }
  bool terminated = false;
  auto frame = parseEntries(*section, header->ehFrame, &terminated);
  if (!frame) return error(std::move(frame.error().message));
  if (!terminated && !bounded) return error("unwind information (.eh_frame) has no end");
  if (header->fdeCount && *header->fdeCount > frame->fdes.size()) {
    return error(std::format("unwind information (.eh_frame) has {} functions, but its search table {}",
                             frame->fdes.size(), *header->fdeCount));
  }
  return frame;
}

}  // namespace traceback::instrument
