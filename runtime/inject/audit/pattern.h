// Patterns of file names, as shells have them.
#pragma once

namespace traceback::inject::audit {

// Whether all of `text` fits the pattern [pattern, end): `*` is anything, a slash included, `?` one
// character, `[abc]`, `[a-z]` and `[!a]` one of a set; a backslash takes the meaning from what follows it.
bool matches(const char* pattern, const char* end, const char* text);

// Whether one of the patterns, which newlines divide, fits the path or its last part.
bool matchesAny(const char* patterns, const char* path);

}  // namespace traceback::inject::audit
