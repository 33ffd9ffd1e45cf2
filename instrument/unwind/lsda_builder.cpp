#include "instrument/unwind/lsda_builder.h"

#include <algorithm>
#include <format>
#include <limits>

namespace traceback::instrument {

using model::Result;
using model::VirtAddr;

namespace {

std::unexpected<model::Error> bad(std::string what, VirtAddr address) {
  return model::fail(std::format("exception table at {:#x}: {}", address.value, what));
}

struct CopiedSite {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t landingPad = 0;  // 0: none
  const CallSite* original = nullptr;
};

const CallSite* siteAt(const Lsda& lsda, VirtAddr address) {
  const auto after = std::ranges::upper_bound(lsda.callSites, address, {}, &CallSite::start);
  // Empty sites share their start with the next one, which then comes later.
  for (auto site = after; site != lsda.callSites.begin();) {
    --site;
    if (site->contains(address)) return &*site;
    if (site->length != 0) break;
  }
  return nullptr;
}

Result<std::vector<CopiedSite>> copySites(const Lsda& original, const Fragment& fragment,
                                          const LandingPads& landingPads) {
  std::vector<CopiedSite> sites;
  const CallSite* previous = nullptr;
  for (const Piece& piece : fragment.pieces) {
    if (piece.copySize == 0) continue;
    const auto* site = siteAt(original, piece.original);
    if (siteAt(original, {piece.original.value + piece.originalSize - 1}) != site) {
      return bad("call site that ends within an instruction", original.address);
    }
    const auto end = piece.copy + piece.copySize;
    if (site != nullptr && site == previous) {
      sites.back().end = end;
    } else if (site != nullptr) {
      CopiedSite copied{.start = piece.copy, .end = end, .landingPad = 0, .original = site};
      if (site->landingPad.value != 0) {
        const auto pad = landingPads(site->landingPad);
        if (!pad || *pad == 0) {
          return bad(std::format("landing pad {:#x} has no copy", site->landingPad.value), original.address);
        }
        copied.landingPad = *pad;
      }
      sites.push_back(copied);
    }
    previous = site;
  }
  return sites;
}

}  // namespace

Result<VirtAddr> appendLsda(ByteSink& out, std::uint64_t base, const Lsda& original, const Fragment& fragment,
                            const LandingPads& landingPads) {
  const auto sites = copySites(original, fragment, landingPads);
  if (!sites) return std::unexpected(sites.error());
  out.align(4);
  const VirtAddr address{base + out.size()};
  const std::uint64_t start = fragment.pieces.front().copy;

  // A landing pad at distance 0 would mean none, and one below the base cannot be said. So where a pad does
  // not lie behind the fragment's start, the base is named: right below the lowest pad.
  std::uint64_t lowest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& site : *sites) {
    if (site.landingPad != 0) lowest = std::min(lowest, site.landingPad);
  }
  std::uint64_t padBase = start;
  if (lowest > start) {
    out.byte(kPointerOmitted);
  } else {
    padBase = lowest - 1;
    constexpr std::uint8_t kEncoding =
        static_cast<std::uint8_t>(kBaseHere) | static_cast<std::uint8_t>(kFormatS4);
    out.byte(kEncoding);
    const auto stored = encodePointer(padBase, kEncoding, base + out.size());
    if (!stored) return bad("landing pad too far away", original.address);
    out.value(*stored, 4);
  }

  ByteSink table;
  for (const auto& site : *sites) {
    table.uleb(site.start - start);
    table.uleb(site.end - site.start);
    table.uleb(site.landingPad == 0 ? 0 : site.landingPad - padBase);
    table.uleb(site.original->action);
  }

  // The distance to the end of the type table is written in as many bytes as it may need, so that all
  // behind it has its place.
  constexpr std::size_t kDistanceSize = 5;
  out.byte(original.typeEncoding);
  const std::size_t distanceAt = out.size();
  const bool hasTypes = original.typeEncoding != kPointerOmitted;
  if (hasTypes) out.paddedUleb(0, kDistanceSize);
  out.byte(kFormatUleb);
  out.uleb(table.size());
  out.append(table.bytes());
  out.append(original.actions);
  if (!hasTypes) return address;

  out.align(4);
  const auto entrySize = pointerSize(original.typeEncoding);
  for (auto type = original.types.rbegin(); type != original.types.rend(); ++type) {
    const auto stored = encodePointer(type->target, original.typeEncoding, base + out.size());
    if (!stored) return bad("type too far away", original.address);
    out.value(*stored, *entrySize);
  }
  ByteSink distance;
  distance.paddedUleb(out.size() - distanceAt - kDistanceSize, kDistanceSize);
  for (std::size_t i = 0; i < kDistanceSize; ++i) {
    out.put(distanceAt + i, std::to_integer<std::uint64_t>(distance.bytes()[i]), 1);
  }
  out.append(original.specifications);
  return address;
}

}  // namespace traceback::instrument
