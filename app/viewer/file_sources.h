// Source text from the files of this machine.
#pragma once

#include <memory>

#include "app/viewer/settings.h"
#include "views/source/code_provider.h"

namespace traceback::app {

// The first mapping for a folder wins over later ones for the same.
std::shared_ptr<views::SourceProvider> fileSources(const QList<SourceMapping>& mappings);

}  // namespace traceback::app
