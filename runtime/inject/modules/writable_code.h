// Code of a module that is written to. Other threads run what is in the same pages meanwhile, so these stay
// executable.
#pragma once

#include <sys/mman.h>

#include <cstdint>

#include "runtime/inject/kernel/system.h"

namespace traceback::inject {

// The pages of [start, end) can be written to as long as it lives; false where that is not allowed.
class WritableCode {
 public:
  WritableCode(std::uint64_t start, std::uint64_t end)
      : m_start(start / kPage * kPage), m_size((end + kPage - 1) / kPage * kPage - m_start) {
    m_done = protect(PROT_READ | PROT_WRITE | PROT_EXEC);
  }
  ~WritableCode() {
    if (m_done) protect(PROT_READ | PROT_EXEC);
  }
  WritableCode(const WritableCode&) = delete;
  WritableCode& operator=(const WritableCode&) = delete;
  explicit operator bool() const { return m_done; }

 private:
  bool protect(long how) const {
    return !failed(systemCall(__NR_mprotect, static_cast<long>(m_start), static_cast<long>(m_size), how));
  }
  std::uint64_t m_start, m_size;
  bool m_done = false;
};

}  // namespace traceback::inject
