// Profiles that nobody counted: whatever one says, the copies are the originals still.
#pragma once

#include <QString>

#include "tests/truth/product_run.h"

namespace traceback::truth {

// Of how many blocks: those that the instrumented file of the program has, each with counts that mean
// nothing.
int writeRandomProfile(const QString& program, const QString& instrumented, unsigned seed,
                       const QString& path);

// The same, but that each ran as often as all others, and each branch was taken as often as not.
int writeProfileOfAll(const QString& program, const QString& instrumented, const QString& path);

// That nothing of the program ever ran. False if it has no build id, or the file cannot be written.
bool writeProfileOfNothing(const QString& program, const QString& path);

// The program instrumented by that, and by writeProfileOfAll().
Attempt<std::unique_ptr<ProductRun>> prepareAsIfNothingRan(const QString& program,
                                                           const QStringList& options = {});
Attempt<std::unique_ptr<ProductRun>> prepareAsIfAllRan(const QString& program,
                                                       const QStringList& options = {});

}  // namespace traceback::truth
