// Files of the distribution that suites of the instrumentor read: programs and libraries nobody here wrote.
#pragma once

#include <QByteArray>
#include <QFile>
#include <QTest>

namespace traceback::tests {

inline void addRealFiles() {
  QTest::addColumn<QString>("path");
  static const char* const kPaths[] = {"/usr/bin/gzip",
                                       "/usr/bin/bzip2",
                                       "/usr/bin/xz",
                                       "/usr/bin/lua5.4",
                                       "/usr/bin/sqlite3",
                                       "/usr/bin/gawk",
                                       "/usr/bin/jq",
                                       "/usr/bin/perl",
                                       "/usr/bin/gdb",
                                       "/usr/bin/cmake",
                                       "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                       "/usr/lib/x86_64-linux-gnu/libQt6Core.so.6",
                                       "/usr/lib/x86_64-linux-gnu/libc.so.6",
                                       "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                                       "/usr/lib/x86_64-linux-gnu/libz.so.1"};
  for (const char* path : kPaths) {
    if (QFile::exists(path)) QTest::newRow(path) << QString::fromLatin1(path);
  }
}

}  // namespace traceback::tests
