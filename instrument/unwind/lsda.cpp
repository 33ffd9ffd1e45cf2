#include "instrument/unwind/lsda.h"

#include <algorithm>
#include <format>
#include <set>
#include <tuple>

namespace traceback::instrument {

using model::Result;
using model::VirtAddr;

namespace {

std::unexpected<model::Error> bad(std::string what, VirtAddr address) {
  return model::fail(std::format("exception table at {:#x}: {}", address.value, what));
}

std::uint64_t readCallSiteValue(ByteCursor& cursor, std::uint8_t encoding) {
  return encoding == kFormatUleb ? cursor.uleb() : readPointer(cursor, encoding, 0).raw;
}

// How far the actions, and through them types and specifications, are in use.
struct Reach {
  std::uint64_t actionsEnd = 0;  // relative to the actions
  std::uint64_t highestType = 0;
  std::set<std::uint64_t> specifications;  // offsets behind the type table
};

enum class Chain { Ends, Loops, Outside };

// `known` are the positions of chains that were found to end: chains share their tails.
Chain followActions(std::span<const std::byte> actions, std::uint64_t first, std::set<std::uint64_t>& known,
                    Reach& reach) {
  std::set<std::uint64_t> path;
  for (std::uint64_t position = first - 1; !known.contains(position);) {
    if (!path.insert(position).second) return Chain::Loops;
    if (position > actions.size()) return Chain::Outside;
    ByteCursor cursor(actions, position);
    const auto filter = cursor.sleb();
    const auto distanceAt = static_cast<std::int64_t>(cursor.position());
    const auto distance = cursor.sleb();
    if (cursor.failed()) return Chain::Outside;
    reach.actionsEnd = std::max<std::uint64_t>(reach.actionsEnd, cursor.position());
    if (filter > 0) reach.highestType = std::max(reach.highestType, static_cast<std::uint64_t>(filter));
    if (filter < 0) reach.specifications.insert(~static_cast<std::uint64_t>(filter));
    if (distance == 0) break;
    if (distance < -distanceAt || distance > std::ssize(actions)) return Chain::Outside;
    position = static_cast<std::uint64_t>(distanceAt + distance);
  }
  known.merge(path);
  return Chain::Ends;
}

// What stands in front of the actions; on failure `lsda` has the call sites up to there.
struct Front {
  std::uint64_t sitesEnd = 0, typesEnd = 0;  // relative to the table
};
Result<Front> parseCallSites(std::span<const std::byte> bytes, VirtAddr start, std::uint64_t size,
                             Lsda& lsda) {
  const VirtAddr address = lsda.address;
  ByteCursor cursor(bytes);

  VirtAddr padBase = start;
  const auto padBaseEncoding = cursor.read<std::uint8_t>();
  if (padBaseEncoding != kPointerOmitted) {
    if ((padBaseEncoding & kPointerIndirect) != 0) return bad("indirect landing pad base", address);
    padBase = VirtAddr{readPointer(cursor, padBaseEncoding, address.value).target};
  }
  lsda.typeEncoding = cursor.read<std::uint8_t>();
  std::uint64_t typesEnd = 0;
  if (lsda.typeEncoding != kPointerOmitted) {
    const auto distance = cursor.uleb();
    if (cursor.failed() || distance > cursor.left()) return bad("type table outside of the file", address);
    typesEnd = cursor.position() + distance;
  }
  const auto siteEncoding = cursor.read<std::uint8_t>();
  const auto sitesSize = cursor.uleb();
  if (siteEncoding != kFormatUleb &&
      (!pointerSize(siteEncoding) || pointerBase(siteEncoding) != kBaseAbsolute ||
       (siteEncoding & kPointerIndirect) != 0)) {
    return bad("unknown call site encoding", address);
  }
  if (cursor.failed() || sitesSize > cursor.left()) return bad("truncated call sites", address);
  const std::uint64_t sitesEnd = cursor.position() + sitesSize;
  ByteCursor sites(bytes.first(sitesEnd), cursor.position());
  std::uint64_t previousEnd = 0;
  while (sites.left() > 0) {
    const auto siteStart = readCallSiteValue(sites, siteEncoding);
    const auto length = readCallSiteValue(sites, siteEncoding);
    const auto pad = readCallSiteValue(sites, siteEncoding);
    const auto action = sites.uleb();
    if (sites.failed()) return bad("truncated call sites", address);
    if (siteStart > size || length > size - siteStart)
      return bad("call site outside of its function", address);
    if (siteStart < previousEnd) return bad("call sites out of order", address);
    previousEnd = siteStart + length;
    lsda.callSites.push_back({.start = VirtAddr{start.value + siteStart},
                              .length = length,
                              .landingPad = VirtAddr{pad == 0 ? 0 : padBase.value + pad},
                              .action = action});
  }
  return Front{.sitesEnd = sitesEnd, .typesEnd = typesEnd};
}

}  // namespace

Result<Lsda> parseLsda(std::span<const std::byte> bytes, VirtAddr address, VirtAddr start,
                       std::uint64_t size) {
  Lsda lsda;
  lsda.address = address;
  const auto front = parseCallSites(bytes, start, size, lsda);
  if (!front) return std::unexpected(front.error());
  const auto [sitesEnd, typesEnd] = *front;

  const auto actions = bytes.subspan(sitesEnd);
  Reach reach;
  std::set<std::uint64_t> known;
  for (const auto& site : lsda.callSites) {
    if (site.action == 0) continue;
    switch (followActions(actions, site.action, known, reach)) {
      case Chain::Ends:
        break;
      case Chain::Loops:
        return bad("actions that loop", address);
      case Chain::Outside:
        return bad("action outside of the table", address);
    }
  }
  lsda.actions = actions.first(reach.actionsEnd);
  std::uint64_t end = sitesEnd + reach.actionsEnd;

  if (lsda.typeEncoding == kPointerOmitted) {
    if (reach.highestType > 0 || !reach.specifications.empty())
      return bad("actions without a type table", address);
    lsda.end = VirtAddr{address.value + end};
    return lsda;
  }
  end = std::max(end, typesEnd);
  std::uint64_t specificationsEnd = 0;
  for (const auto offset : reach.specifications) {
    if (offset > bytes.size() - typesEnd) return bad("exception specification outside of the file", address);
    ByteCursor list(bytes, typesEnd + offset);
    while (const auto type = list.uleb()) reach.highestType = std::max(reach.highestType, type);
    if (list.failed()) return bad("exception specification without an end", address);
    specificationsEnd = std::max<std::uint64_t>(specificationsEnd, list.position() - typesEnd);
  }
  lsda.specifications = bytes.subspan(typesEnd, specificationsEnd);
  end = std::max(end, typesEnd + specificationsEnd);

  if (reach.highestType > 0) {
    const auto entrySize = pointerSize(lsda.typeEncoding);
    if (!entrySize) return bad("unknown type encoding", address);
    if (typesEnd < sitesEnd || reach.highestType > (typesEnd - sitesEnd) / *entrySize) {
      return bad("type table overlaps the call sites", address);
    }
    for (std::uint64_t filter = 1; filter <= reach.highestType; ++filter) {
      ByteCursor entry(bytes, typesEnd - filter * *entrySize);
      lsda.types.push_back(readPointer(entry, lsda.typeEncoding, address.value));
      if (entry.failed()) return bad("unknown type encoding", address);
    }
  }
  lsda.end = VirtAddr{address.value + end};
  return lsda;
}

std::vector<VirtAddr> landingPads(const Lsda& lsda) {
  std::vector<VirtAddr> pads;
  for (const CallSite& site : lsda.callSites)
    if (site.landingPad.value != 0) pads.push_back(site.landingPad);
  return pads;
}

std::vector<VirtAddr> landingPads(std::span<const std::byte> bytes, VirtAddr address, VirtAddr start,
                                  std::uint64_t size) {
  Lsda lsda;
  lsda.address = address;
  std::ignore = parseCallSites(bytes, start, size, lsda);
  return landingPads(lsda);
}

std::vector<VirtAddr> readLandingPads(const loader::ElfImage& image, const EhFrame& frame, const Fde& fde) {
  const bool indirect = (frame.cies[fde.cie].lsdaEncoding & kPointerIndirect) != 0;
  const auto bytes = indirect ? std::nullopt : image.fromAddress(fde.lsda);
  return bytes ? landingPads(*bytes, fde.lsda, fde.start, fde.size) : std::vector<VirtAddr>{};
}

Result<Lsda> readLsda(const loader::ElfImage& image, const EhFrame& frame, const Fde& fde) {
  if ((frame.cies[fde.cie].lsdaEncoding & kPointerIndirect) != 0)
    return bad("indirect pointer to it", fde.lsda);
  const auto bytes = image.fromAddress(fde.lsda);
  if (!bytes) return bad("not in the file", fde.lsda);
  return parseLsda(*bytes, fde.lsda, fde.start, fde.size);
}

}  // namespace traceback::instrument
