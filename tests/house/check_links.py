#!/usr/bin/env python3
"""Checks that programs and libraries which must run without Qt do not need it.

    check_links.py PATTERN FILE...     no FILE may need a library whose name matches PATTERN
"""

import re
import subprocess
import sys


def needed(path: str) -> list[str]:
    out = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\)\s+Shared library: \[([^\]]+)\]", out)


def main() -> int:
    pattern = re.compile(sys.argv[1])
    status = 0
    for path in sys.argv[2:]:
        for library in needed(path):
            if pattern.search(library):
                print(f"{path}: needs {library}")
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
