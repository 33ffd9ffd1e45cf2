// C++ exceptions as they are thrown.
#pragma once

namespace traceback::inject {

// As the process starts: looks up the C++ library's own, for the linker's locks may be taken by others when
// something is thrown. Not if the program has none: what the linker says of that is put together by the
// program's malloc, which may not be ready.
void findThrow();

}  // namespace traceback::inject
