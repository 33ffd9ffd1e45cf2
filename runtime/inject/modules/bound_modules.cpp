#include "runtime/inject/modules/bound_modules.h"

#include "runtime/format/process.h"

namespace traceback::inject {

namespace {

constinit BoundModule bound[format::kMaxModules];
constinit unsigned boundCount = 0;

}  // namespace

const format::ModuleHeader* headerOf(const BoundModule& module) {
  return __atomic_load_n(&module.header, __ATOMIC_ACQUIRE);
}

std::uint64_t copyStartOf(const BoundModule& module) {
  return __atomic_load_n(&module.copyStart, __ATOMIC_ACQUIRE);
}

std::span<const BoundModule> boundModules() {
  return {bound, __atomic_load_n(&boundCount, __ATOMIC_SEQ_CST)};
}

const BoundModule* moduleOf(std::uint64_t address) {
  for (const BoundModule& module : boundModules())
    if (address < __atomic_load_n(&module.copyEnd, __ATOMIC_ACQUIRE) && address >= copyStartOf(module))
      return &module;
  return nullptr;
}

void addBoundModule(const format::ModuleHeader& header, std::uint64_t bias, unsigned index) {
  unsigned free = 0;
  while (free < boundCount && bound[free].header != nullptr) ++free;
  BoundModule& entry = bound[free];
  entry.bias = bias;
  entry.index = index;
  __atomic_store_n(&entry.header, &header, __ATOMIC_SEQ_CST);
  __atomic_store_n(&entry.copyStart, bias + header.copyStart, __ATOMIC_RELEASE);
  __atomic_store_n(&entry.copyEnd, bias + header.copyEnd,
                   __ATOMIC_RELEASE);  // last: none is in an empty range
  if (free == boundCount) __atomic_store_n(&boundCount, boundCount + 1, __ATOMIC_SEQ_CST);
}

void removeBoundModule(const format::ModuleHeader* header, unsigned index) {
  for (BoundModule& entry : std::span(bound, boundCount)) {
    if (entry.header != header || entry.index != index) continue;
    __atomic_store_n(&entry.copyEnd, std::uint64_t{0}, __ATOMIC_RELEASE);
    __atomic_store_n(&entry.copyStart, std::uint64_t{0}, __ATOMIC_RELEASE);
    __atomic_store_n(&entry.header, nullptr, __ATOMIC_RELEASE);
  }
}

}  // namespace traceback::inject
