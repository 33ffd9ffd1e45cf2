#!/usr/bin/env python3
"""Runs a command where some files are others: bound.py LIST COMMAND [ARGUMENT...].

LIST has a line for each: the path of the file to show, a tab, and the path where it is to be shown. Nobody outside sees
that, and no program can tell: paths, /proc/self/exe and $ORIGIN are the original's.
"""

import ctypes
import os
import signal
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18

libc = ctypes.CDLL(None, use_errno=True)


def check(result: int, what: str) -> None:
    if result != 0:
        sys.exit(f"bound.py: {what}: {os.strerror(ctypes.get_errno())}")


def main() -> None:
    user = os.getuid()
    check(libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if user else 0)), "unshare")
    if user:
        with open("/proc/self/uid_map", "w", encoding="ascii") as out:
            out.write(f"{user} {user} 1")
    check(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "mount /")
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            shown, place = line.rstrip("\n").split("\t")
            check(libc.mount(shown.encode(), place.encode(), None, MS_BIND, None), place)
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
        signal.signal(number, signal.SIG_DFL)
    os.execvp(sys.argv[2], sys.argv[2:])


main()
