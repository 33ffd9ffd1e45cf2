#!/usr/bin/env python3
"""Checks that libraries run with an older C library than the one that they were built with.

    check_glibc.py VERSION FILE...     no FILE may need a symbol of glibc later than VERSION
"""

import re
import subprocess
import sys


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def needed(path: str) -> set[str]:
    """The versions that the file needs, by name: 2.34."""
    out = subprocess.run(["readelf", "-VW", path], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"\bName: GLIBC_([\d.]+)", out))


def main() -> int:
    most, status = number(sys.argv[1]), 0
    for path in sys.argv[2:]:
        versions = needed(path)
        for version in sorted(versions, key=number):
            if number(version) > most:
                print(f"{path}: needs glibc {version}")
                status = 1
        print(f"{path}: {max(versions, key=number, default='no glibc')}")
    return status


if __name__ == "__main__":
    sys.exit(main())
