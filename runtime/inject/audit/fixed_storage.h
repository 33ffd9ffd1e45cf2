// Thread-local storage of fixed place, of the libraries that a program is started with.
//
// With an audit library there, glibc lays such storage out before it knows them (elf/rtld.c, init_tls): with
// the alignment that the program and the thread's own block want, and with room for what comes. A library
// that wants more is refused, and with it the program.
#pragma once

#include <elf.h>

#include <cstdint>

namespace traceback::inject::audit {

class FixedStorage {
 public:
  static constexpr std::uint64_t kThreadAlignment = 64;  // of a thread's own block (TCB_ALIGNMENT)

  // `segments`: of the program.
  void startWith(const Elf64_Phdr* segments, std::uint64_t count) {
    if (const Elf64_Phdr* storage = storageOf(segments, count); storage != nullptr)
      if (storage->p_align > m_alignment) m_alignment = storage->p_align;
  }

  // One more library, but for the runtime. False if there is no place for it. `isFixed`: it says so itself
  // (DF_STATIC_TLS); whether others want a fixed place is known only from who uses them, so their alignment
  // counts, too.
  bool add(const Elf64_Phdr* segments, std::uint64_t count, bool isFixed) {
    const Elf64_Phdr* storage = storageOf(segments, count);
    if (storage == nullptr) return true;
    if (storage->p_align > m_alignment) return false;
    if (!isFixed) return true;
    // What others of them leave unused in front of one that is aligned to more counts, too.
    const std::uint64_t gap = storage->p_align > kThreadAlignment ? storage->p_align : 0;
    if (storage->p_memsz > kRoom - m_size || gap > kRoom - m_size - storage->p_memsz) return false;
    m_size += storage->p_memsz + gap;
    return true;
  }

 private:
  // By format::kTunable, beside the runtime's; 4600 were measured.
  static constexpr std::uint64_t kRoom = 4096;

  static const Elf64_Phdr* storageOf(const Elf64_Phdr* segments, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      if (segments[i].p_type == PT_TLS && segments[i].p_memsz != 0) return &segments[i];
    return nullptr;
  }

  std::uint64_t m_alignment = kThreadAlignment;
  std::uint64_t m_size = 0;
};

// Whether a library's dynamic section says that its storage has a fixed place.
inline bool hasFixedStorage(const Elf64_Dyn* entries) {
  for (; entries->d_tag != DT_NULL; ++entries)
    if (entries->d_tag == DT_FLAGS) return (entries->d_un.d_val & DF_STATIC_TLS) != 0;
  return false;
}

}  // namespace traceback::inject::audit
