// A program's thread-local storage is aligned to more, and its variables stay where its code looks for them.
#include <QTest>
#include <cstring>

#include "instrument/elf/thread_storage.h"
#include "loader/mapped_file.h"

using namespace traceback;
using instrument::alignedThreadStorage;

namespace {

// How far below the thread pointer the first block begins, as glibc's _dl_determine_tlsoffset has it.
std::uint64_t distanceOf(const Elf64_Phdr& storage) {
  const std::uint64_t first = -(storage.p_vaddr & (storage.p_align - 1)) & (storage.p_align - 1);
  const std::uint64_t rest = storage.p_memsz - first + storage.p_align - 1;
  return rest / storage.p_align * storage.p_align + first;
}

// This program with another header for thread-local storage, or none.
class Program {
 public:
  explicit Program(std::optional<Elf64_Phdr> storage) {
    const auto file = loader::MappedFile::open("/proc/self/exe");
    m_bytes.assign(file->bytes().begin(), file->bytes().end());
    const auto header = *loader::readAt<Elf64_Ehdr>(m_bytes, 0);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
      const std::size_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
      auto segment = *loader::readAt<Elf64_Phdr>(m_bytes, at);
      if (segment.p_type != PT_TLS && segment.p_type != PT_GNU_STACK) continue;
      segment.p_type = PT_NULL;
      if (storage) segment = *std::exchange(storage, std::nullopt);
      std::memcpy(m_bytes.data() + at, &segment, sizeof segment);
    }
    m_image = *loader::ElfImage::parse(m_bytes, "program");
  }
  const loader::ElfImage& image() const { return *m_image; }

 private:
  std::vector<std::byte> m_bytes;
  std::optional<loader::ElfImage> m_image;
};

Elf64_Phdr storageAt(std::uint64_t address, std::uint64_t size, std::uint64_t alignment, std::uint64_t set) {
  return {.p_type = PT_TLS,
          .p_flags = PF_R,
          .p_offset = address - 0x1000,
          .p_vaddr = address,
          .p_paddr = address,
          .p_filesz = set,
          .p_memsz = size,
          .p_align = alignment};
}

}  // namespace

class TestThreadStorage : public QObject {
  Q_OBJECT
 private slots:
  void storageThatIsZeroAtFirstStaysWhereItIs() {
    for (const std::uint64_t alignment : {1, 8, 64})
      for (const std::uint64_t size : {1, 8, 63, 64, 65, 127, 128, 200, 3000})
        for (std::uint64_t address = 0x4000; address < 0x4080; address += alignment) {
          const Elf64_Phdr before = storageAt(address, size, alignment, 0);
          const auto after = alignedThreadStorage(Program(before).image(), 128);
          QVERIFY(after.has_value());
          QCOMPARE(after->p_align, std::uint64_t{128});
          QCOMPARE(distanceOf(*after), distanceOf(before));
          QCOMPARE(after->p_memsz, size);
          QCOMPARE(after->p_vaddr - after->p_offset, before.p_vaddr - before.p_offset);
        }
  }

  void storageThatHasAValueStaysOrIsNotChanged() {
    unsigned changed = 0, left = 0;
    for (std::uint64_t address = 0x4000; address < 0x4080; address += 8)
      for (const std::uint64_t size : {8, 24, 120, 256}) {
        const Elf64_Phdr before = storageAt(address, size, 8, 8);
        const auto after = alignedThreadStorage(Program(before).image(), 128);
        if (!after) {
          ++left;
          continue;
        }
        ++changed;
        QCOMPARE(distanceOf(*after), distanceOf(before));
        QCOMPARE(after->p_vaddr, before.p_vaddr);
        QCOMPARE(after->p_filesz, before.p_filesz);
      }
    QVERIFY(changed > 0 && left > 0);
  }

  void storageThatIsAlignedToAsMuchIsLeft() {
    const Elf64_Phdr before = storageAt(0x4000, 24, 256, 24);
    const auto after = alignedThreadStorage(Program(before).image(), 128);
    QVERIFY(after.has_value());
    QVERIFY(std::memcmp(&*after, &before, sizeof before) == 0);
  }

  void aProgramWithoutAnyGetsAByte() {
    const auto added = alignedThreadStorage(Program(std::nullopt).image(), 512);
    QVERIFY(added.has_value());
    QCOMPARE(added->p_type, Elf64_Word{PT_TLS});
    QCOMPARE(added->p_filesz, std::uint64_t{0});
    QCOMPARE(distanceOf(*added), std::uint64_t{512});
  }

  void whatIsNoAlignmentOrTooLargeIsRefused() {
    const Program program(std::nullopt);
    for (const std::uint64_t alignment : {0, 3, 96, 2048, 4096})
      QVERIFY(!alignedThreadStorage(program.image(), alignment).has_value());
    QVERIFY(!alignedThreadStorage(Program(storageAt(0x4004, 8, 8, 0)).image(), 128).has_value());
  }
};

QTEST_GUILESS_MAIN(TestThreadStorage)
#include "tst_thread_storage.moc"
