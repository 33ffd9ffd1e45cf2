// First, for Qt has a macro of the name of one of its fields.
#include "tests/truth/instrumented_file.h"
//
#include "tests/truth/written_profile.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <random>

namespace traceback::truth {

namespace {

// The file's first lines, up to where blocks come; empty if the program has no build id.
QByteArray headOf(const QString& program) {
  const auto notes = runToEnd("readelf", {"-n", program}, QProcessEnvironment::systemEnvironment());
  if (!notes) return {};
  const auto id = QRegularExpression("Build ID: ([0-9a-f]+)").match(QString::fromUtf8(notes->output));
  return id.hasMatch() ? "traceback-profile 2\nmodule " + id.captured(1).toUtf8() + "\n" : QByteArray();
}

struct Counts {
  unsigned long ran, taken, begun;  // taken: of a hundred
};

template <typename CountsOfNext>
int writeProfile(const QString& program, const QString& instrumented, const QString& path,
                 CountsOfNext countsOfNext) {
  const auto file = InstrumentedFile::open(instrumented.toStdString());
  const QByteArray head = headOf(program);
  QFile out(path);
  if (!file || head.isEmpty() || !out.open(QFile::WriteOnly)) return 0;
  out.write(head);
  int count = 0;
  for (const InstrumentedFunction& function : file->functions) {
    for (const format::BlockEntry& block : function.blocks) {
      const Counts counts = countsOfNext();
      out.write(QString("%1 %2 100 %3 %4\n")
                    .arg(block.start, 0, 16)
                    .arg(counts.ran)
                    .arg(counts.taken)
                    .arg(counts.begun)
                    .toUtf8());
      ++count;
    }
  }
  return count;
}

}  // namespace

int writeRandomProfile(const QString& program, const QString& instrumented, unsigned seed,
                       const QString& path) {
  std::mt19937 random(seed);
  return writeProfile(program, instrumented, path, [&random] {
    const auto taken = random() % 3 * 50, ran = random() % 3 * random() % 1000, begun = random() % 2;
    return Counts{ran, taken, begun};
  });
}

int writeProfileOfAll(const QString& program, const QString& instrumented, const QString& path) {
  return writeProfile(program, instrumented, path, [] { return Counts{100, 50, 50}; });
}

bool writeProfileOfNothing(const QString& program, const QString& path) {
  const QByteArray bytes = headOf(program) + "0 0 0 0 0\n";
  QFile out(path);
  return bytes.startsWith("traceback-profile") && out.open(QFile::WriteOnly) &&
         out.write(bytes) == bytes.size();
}

Attempt<std::unique_ptr<ProductRun>> prepareAsIfNothingRan(const QString& program,
                                                           const QStringList& options) {
  const QTemporaryDir folder;  // only the instrumentor reads it
  const QString profile = folder.filePath("nothing.tbprofile");
  if (!writeProfileOfNothing(program, profile)) return std::unexpected("no profile of " + program);
  return ProductRun::prepare(program, options + QStringList{"--profile", profile});
}

Attempt<std::unique_ptr<ProductRun>> prepareAsIfAllRan(const QString& program, const QStringList& options) {
  const auto any = ProductRun::prepare(program);
  if (!any) return std::unexpected(any.error());
  const QTemporaryDir folder;
  const QString profile = folder.filePath("all.tbprofile");
  if (writeProfileOfAll(program, (*any)->program(), profile) == 0)
    return std::unexpected("no profile of " + program);
  return ProductRun::prepare(program, options + QStringList{"--profile", profile});
}

}  // namespace traceback::truth
