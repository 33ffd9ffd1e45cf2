#include "tests/truth/stepper/sequence.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <type_traits>

namespace traceback::truth {

namespace {

constexpr char kMagic[8] = {'T', 'B', 'T', 'R', 'U', 'T', 'H', '1'};

template <typename T>
void put(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
void putAll(std::string& out, const std::vector<T>& values) {
  put(out, std::uint64_t(values.size()));
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

class Reader {
 public:
  explicit Reader(const std::string& bytes) : m_bytes(bytes) {}

  template <typename T>
  bool get(T& value) {
    if (m_bytes.size() - m_at < sizeof(T)) return false;
    std::memcpy(&value, m_bytes.data() + m_at, sizeof(T));
    m_at += sizeof(T);
    return true;
  }
  template <typename T>
  bool getAll(std::vector<T>& values) {
    std::uint64_t count = 0;
    if (!get(count) || count > (m_bytes.size() - m_at) / sizeof(T)) return false;
    values.resize(count);
    if (count != 0) std::memcpy(values.data(), m_bytes.data() + m_at, count * sizeof(T));
    m_at += count * sizeof(T);
    return true;
  }
  bool atEnd() const { return m_at == m_bytes.size(); }

 private:
  const std::string& m_bytes;
  std::size_t m_at = 0;
};

}  // namespace

Outcome<void> writeSequence(const Sequence& sequence, const std::string& path) {
  std::string out(kMagic, sizeof kMagic);
  put(out, sequence.waitStatus);
  put(out, std::uint32_t(sequence.threads.size()));
  for (const ThreadSequence& thread : sequence.threads) {
    put(out, thread.tid);
    put(out, thread.marks);
    putAll(out, thread.addresses);
    putAll(out, thread.received);
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(out.data(), std::streamsize(out.size()));
  file.close();
  if (!file) return std::unexpected(path + ": cannot be written");
  return {};
}

Outcome<Sequence> readSequence(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::unexpected(path + ": cannot be opened");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.compare(0, sizeof kMagic, kMagic, sizeof kMagic) != 0)
    return std::unexpected(path + ": not a sequence of the stepper");
  Reader reader(bytes);
  char magic[sizeof kMagic];
  Sequence sequence;
  std::uint32_t threads = 0;
  bool good = reader.get(magic) && reader.get(sequence.waitStatus) && reader.get(threads);
  for (std::uint32_t i = 0; good && i < threads; ++i) {
    ThreadSequence& thread = sequence.threads.emplace_back();
    good = reader.get(thread.tid) && reader.get(thread.marks) && reader.getAll(thread.addresses) &&
           reader.getAll(thread.received);
  }
  if (!good || !reader.atEnd()) return std::unexpected(path + ": cut short or too long");
  return sequence;
}

}  // namespace traceback::truth
