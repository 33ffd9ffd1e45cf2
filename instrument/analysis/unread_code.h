// Code of which it is not known what it does, and where it may lead all the same: too much rather than too
// little.
#pragma once

#include <functional>
#include <span>

#include "instrument/analysis/program.h"

namespace traceback::instrument {

// Whether the function's instructions are what runs there.
bool isRead(const Function& f);

// Calls visit(from, to) for what is executable and belongs to no function.
void forEachGap(const Program& program, const std::function<void(VirtAddr, VirtAddr)>& visit);

// Calls visit(target) for whatever looks like a direct jump, branch, loop or call, at any byte.
void forEachPossibleTransfer(std::span<const std::byte> bytes, VirtAddr start,
                             const std::function<void(VirtAddr)>& visit);

// The same for all code that is not read: of such functions, and between functions.
void forEachUnreadTransfer(const Program& program, const std::function<void(VirtAddr)>& visit);

}  // namespace traceback::instrument
