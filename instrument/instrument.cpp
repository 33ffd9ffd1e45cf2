#include "instrument/instrument.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <format>

#include "instrument/elf/elf_plan.h"
#include "instrument/elf/elf_writer.h"
#include "instrument/new_segment.h"
#include "instrument/plan.h"
#include "loader/mapped_file.h"
#include "runtime/format/module.h"

namespace traceback::instrument {
namespace {

using loader::ElfImage;
using model::fail;
using model::Result;

bool isInstrumented(const ElfImage& image) {
  if (image.section(format::kMapSection) != nullptr) return true;
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const auto bytes = image.bytesAt({segment.p_vaddr}, sizeof format::kModuleMagic);
    if (bytes && std::memcmp(bytes->data(), &format::kModuleMagic, sizeof format::kModuleMagic) == 0)
      return true;
  }
  return false;
}

// What no part of the design covers: the whole file is left alone.
Result<void> checkFile(const ElfImage& image) {
  const auto refuse = [&](std::string why) { return fail(std::move(why), image.path()); };
  if (image.type() != ET_DYN && image.type() != ET_EXEC) return refuse("not a program or shared library");
  if (isInstrumented(image)) return refuse("is instrumented already");
  if (image.segment(PT_DYNAMIC) == nullptr)
    return refuse("statically linked: only dynamic programs can be recorded");
  if (const auto soname = image.dynamicValue(DT_SONAME))
    if (const auto name = image.dynamicString(*soname)) {
      if (name->starts_with("ld-linux")) return refuse("the dynamic loader is left as it is");
      if (*name == "libtraceback.so") return refuse("the recorder itself is left as it is");
    }
  if (image.dynamicValue(DT_TEXTREL) || (image.dynamicValue(DT_FLAGS).value_or(0) & DF_TEXTREL) != 0)
    return refuse("has text relocations: its code is changed as it is loaded");
  for (const Elf64_Phdr& segment : image.segments())
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && (segment.p_flags & PF_W) != 0)
      return refuse("has writable code");
  return {};
}

class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path) : m_path(std::move(path)) {}
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (m_descriptor >= 0) ::close(m_descriptor);
    if (!m_temporary.empty()) ::unlink(m_temporary.c_str());
  }

  // All of it under its name, or nothing: written beside it and renamed.
  Result<void> write(std::span<const std::byte> bytes, mode_t mode) {
    std::string pattern = m_path.string() + ".XXXXXX";
    m_descriptor = ::mkostemp(pattern.data(), O_CLOEXEC);
    if (m_descriptor < 0) return error("cannot write here");
    m_temporary = pattern;
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::write(m_descriptor, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return error("cannot write");
      done += std::size_t(n);
    }
    if (::fchmod(m_descriptor, mode & 07777) != 0) return error("cannot set its mode");
    const int descriptor = m_descriptor;
    m_descriptor = -1;
    if (::close(descriptor) != 0) return error("cannot write");
    if (::rename(m_temporary.c_str(), m_path.c_str()) != 0) return error("cannot put the new file in place");
    m_temporary.clear();
    return {};
  }

 private:
  std::unexpected<model::Error> error(const char* what) const {
    return fail(std::format("{}: {}", what, std::strerror(errno)), m_path.string());
  }

  std::filesystem::path m_path;
  std::string m_temporary;
  int m_descriptor = -1;
};

Report reportOf(const Plan& plan, const NewSegment& segment) {
  Report report;
  for (const Function& f : plan.program.functions) {
    ++report.functions;
    report.textBytes += f.size;
    if (f.skip == format::SkipReason::None)
      ++report.instrumented;
    else
      ++report.skipped[skipReasonName(f.skip)];
  }
  report.newTextBytes = segment.copyEnd.value - segment.copyStart.value;
  return report;
}

}  // namespace

Result<Report> instrumentFile(const std::filesystem::path& input, const std::filesystem::path& output,
                              const Options& options, const Progress& progress) {
  const auto file = loader::MappedFile::open(input);
  if (!file) return std::unexpected(file.error());
  const auto image = ElfImage::parse(file->bytes(), input.string());
  if (!image) return std::unexpected(image.error());
  if (const auto ok = checkFile(*image); !ok) return std::unexpected(ok.error());
  const auto layout = planAdditions(*image, sizeof(format::ModuleSlots));
  if (!layout) return std::unexpected(layout.error());
  const auto plan = makePlan(*image, options, progress);
  if (!plan) return std::unexpected(plan.error());
  auto segment = buildSegment(*plan, layout->segment, layout->moduleSlots, options, progress);
  if (!segment) return std::unexpected(segment.error());

  Report report = reportOf(*plan, *segment);
  if (report.instrumented == 0) return fail("none of its functions can be instrumented", input.string());
  ElfAdditions additions;
  additions.segment = std::move(segment->bytes);
  additions.parts = std::move(segment->parts);
  additions.ehFrameHeader = segment->ehFrameHeader;
  additions.ehFrameHeaderSize = segment->ehFrameHeaderSize;
  additions.patches = std::move(segment->patches);
  additions.symbols = std::move(segment->symbols);
  additions.unloaded.push_back({format::kMapSection, std::move(segment->map)});
  const auto bytes = writeElf(*image, *layout, additions);
  if (!bytes) return std::unexpected(bytes.error());

  struct stat status{};
  if (::stat(input.c_str(), &status) != 0) return fail(std::strerror(errno), input.string());
  if (const auto written = OutputFile(output).write(*bytes, status.st_mode); !written)
    return std::unexpected(written.error());
  if (progress) progress(1);
  report.file = input.string();
  report.output = output.string();
  return report;
}

}  // namespace traceback::instrument
