// The cache of instrumented files, and what tells the processes of a run about it.
//
//   ROOT/FLAVOUR/objects/KEY/PATH   the instrumented form of the file that has, or had, the absolute path
//                                   PATH and content KEY. Below objects/KEY the folders of PATH stand as
//                                   below /, so the original's path is what follows the key.
//   ROOT/FLAVOUR/index/NAME         what is known of a file as stat() sees it, in the processes of a kind of
//                                   program (indexName()); one line:
//                                   +KEY/PATH  has this copy
//                                   -REASON    stays as it is
//                                   !REASON    stays as it is for kRetrySeconds from the entry's time on
//   ROOT/FLAVOUR/renewal/NAME       empty: the copy of this entry is to be made anew, and taken meanwhile
//   ROOT/FLAVOUR/making/            temporary files and locks
//
// FLAVOUR: 16 hexadecimal digits, of the instrumentor's identity and of its options. KEY: 32, of the
// content, of what the user's profiles say of it, and of what the program whose process it is for asks for.
// Entries appear whole, by a rename, and are replaced so. Whoever uses a copy sets its time if that is
// older than kTouchSeconds; what was used in the last kKeepSeconds is not removed.
//
// The processes of a run are told by their environment:
//   TRACEBACK_CACHE        ROOT/FLAVOUR
//   TRACEBACK_COLLECTOR    the `traceback` program
//   TRACEBACK_SANITIZED   programs under AddressSanitizer are recorded, for its reports are to be snapped
//   TRACEBACK_ONLY, TRACEBACK_EXCLUDE   patterns of file names, a newline between them
//   TRACEBACK_INSTRUMENT   options for the instrumentor, as on its command line
//   TRACEBACK_TELL         kTellNever, or DEVICE:INODE, hexadecimal, of standard error where `traceback run`
//   began:
//                          only there a snap is named
//   TRACEBACK_EXEC         COMM/EXECFN: what a copy that was executed in an original's place goes by
//   TRACEBACK_AUDIT        sixteen digits of room, where the audit library puts the address of its Bridge
//
// and are to have kTunable among GLIBC_TUNABLES.
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "runtime/format/fnv.h"

namespace traceback::format {

// With an audit library there, glibc lays out thread-local storage before it knows the libraries of a
// program, and leaves room of 512 bytes for theirs: too little for the runtime's 4096.
inline constexpr char kTunable[] = "glibc.rtld.optional_static_tls=8704";

inline constexpr char kTellNever[] = "never";

inline constexpr unsigned kFlavourDigits = 16;
inline constexpr unsigned kKeyDigits = 32;
inline constexpr unsigned kRetrySeconds = 60;
inline constexpr unsigned kTouchSeconds = 60;
inline constexpr unsigned kKeepSeconds = 600;

// A file as stat() sees it. For programs the path counts too, for a program finds its files by its own; and
// so does where the copies of a process find their thread's segment (threadSlotBeside() in ring.h).
struct FileIdentity {
  std::uint64_t device, inode, size;
  std::int64_t modifiedSeconds, modifiedNs, changedSeconds, changedNs;
  std::uint64_t pathHash;  // hashOfPath(), or 0
  std::uint64_t threadSlot;  // how far below the thread pointer
};

inline constexpr unsigned kIndexNameSize = 9 * 17 + 1;

// FNV-1a; never 0.
constexpr std::uint64_t hashOfPath(const char* path) { return fnvOf(path) | 1; }

// Of the file whose status it is; `program`: its path if it is to be executed, else null.
inline FileIdentity identityOf(const struct stat& status, const char* program, std::int32_t threadSlot) {
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = static_cast<std::uint64_t>(status.st_size),
          .modifiedSeconds = status.st_mtim.tv_sec,
          .modifiedNs = status.st_mtim.tv_nsec,
          .changedSeconds = status.st_ctim.tv_sec,
          .changedNs = status.st_ctim.tv_nsec,
          .pathHash = program == nullptr ? 0 : hashOfPath(program),
          .threadSlot = static_cast<std::uint64_t>(-std::int64_t{threadSlot})};
}

// The fields in hexadecimal, with dashes between them.
constexpr void indexName(const FileIdentity& identity, char (&name)[kIndexNameSize]) {
  const std::uint64_t fields[] = {identity.device,
                                  identity.inode,
                                  identity.size,
                                  static_cast<std::uint64_t>(identity.modifiedSeconds),
                                  static_cast<std::uint64_t>(identity.modifiedNs),
                                  static_cast<std::uint64_t>(identity.changedSeconds),
                                  static_cast<std::uint64_t>(identity.changedNs),
                                  identity.pathHash,
                                  identity.threadSlot};
  unsigned at = 0;
  for (const std::uint64_t field : fields) {
    if (at != 0) name[at++] = '-';
    unsigned digits = 1;
    while (digits < 16 && (field >> (4 * digits)) != 0) ++digits;
    while (digits-- != 0) name[at++] = "0123456789abcdef"[(field >> (4 * digits)) & 15];
  }
  name[at] = 0;
}

// What a name of the index says of its process: that the file is its program, and where its copies look.
struct IndexKind {
  bool isProgram;
  std::int32_t threadSlot;
};
// Of a name that indexName() made.
constexpr IndexKind kindOfIndexName(const char* name) {
  std::uint64_t last = 0, lastButOne = 0;
  for (; *name != 0; ++name) {
    if (*name == '-') {
      lastButOne = last;
      last = 0;
    } else {
      last = last << 4 | static_cast<std::uint64_t>(*name <= '9' ? *name - '0' : *name - 'a' + 10);
    }
  }
  return {.isProgram = lastButOne != 0,
          .threadSlot = static_cast<std::int32_t>(-static_cast<std::int64_t>(last))};
}

// Where the original's path begins in the path of a copy, or of a folder among copies; null if it is none.
// `cache`: ROOT/FLAVOUR; copies of other flavours are copies, too.
constexpr const char* originalOf(const char* path, const char* cache) {
  const char* rootEnd = cache;  // the last slash
  for (const char* at = cache; *at != 0; ++at)
    if (*at == '/') rootEnd = at;
  for (; cache != rootEnd; ++cache, ++path)
    if (*path != *cache) return nullptr;
  // What has to follow, a dot standing for any character but a slash.
  constexpr char kForm[] = "/................/objects/................................/";
  static_assert(sizeof kForm == 1 + kFlavourDigits + sizeof "/objects/" + kKeyDigits + 1);
  for (const char* form = kForm; *form != 0; ++form, ++path)
    if (*form == '.' ? *path == '/' || *path == 0 : *path != *form) return nullptr;
  return path - 1;
}

// Between the audit library, which the dynamic linker tells of every object, and the runtime, in two
// namespaces of one process.
inline constexpr std::uint64_t kBridgeMagic = 0x0A0D'4447'4442'4254;  // "TBBDGD\r\n"
struct Bridge {
  std::uint64_t magic;
  void (*objectsLoaded)();  // the runtime's; called when new objects are mapped and none of their code ran
};

// What has AddressSanitizer's library do where it is not the first one, as nobody else would write it: at the
// end of its options.
inline constexpr char kSanitizerOptions[] = "ASAN_OPTIONS";
inline constexpr char kAnyLinkOrder[] = "verify_asan_link_order=0::";

}  // namespace traceback::format
