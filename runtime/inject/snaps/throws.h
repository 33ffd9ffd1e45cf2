// C++ exceptions as they are thrown.
#pragma once

namespace traceback::inject {

// Looks up the C++ library's own, for the linker's locks may be taken by others when something is thrown.
void findThrow();

}  // namespace traceback::inject
