// Patterns of file names, as shells have them.
#pragma once

namespace traceback::inject::audit {

// Whether all of `text` fits the pattern [pattern, end): `*` is anything, a slash included, `?` one
// character, `[abc]`, `[a-z]` and `[!a]` one of a set; a backslash takes the meaning from what follows it.
bool matches(const char* pattern, const char* end, const char* text);

// Parts of one whole, with private interfaces between them, and the ground that the runtime stands on: these
// are never instrumented.
inline constexpr char kCLibrary[] =
    "ld-linux-x86-64.so.*\nlibc.so.*\nlibpthread.so.*\nlibdl.so.*\nlibrt.so.*\nlibutil.so.*\nlibanl.so.*\n"
    "libthread_db.so.*\nlibtraceback*.so";

// Where these are needed nothing is recorded: they have more thread-local storage than there is room for, or
// look after the program's memory and threads in ways that the runtime cannot keep to.
inline constexpr char kSanitizers[] = "libtsan.so*\nliblsan.so*\nlibhwasan.so*";
// This checks that it is the first library: so it is with it, unless reports are to be snapped.
inline constexpr char kAddressSanitizer[] = "libasan.so*";
inline constexpr char kUndefinedSanitizer[] = "libubsan.so*";

// By these a program shows that one is linked in, as Clang does it: the same holds for it.
inline constexpr const char* kLinkedSanitizers[] = {"__tsan_init",   "__lsan_init",  "__msan_init",
                                                    "__hwasan_init", "__nsan_init",  "__memprof_init",
                                                    "__dfsan_init",  "__rtsan_init", "__tysan_init"};
inline constexpr char kLinkedAddressSanitizer[] = "__asan_init";

// Whether one of the patterns, which newlines divide, fits the path or its last part.
bool matchesAny(const char* patterns, const char* path);

}  // namespace traceback::inject::audit
