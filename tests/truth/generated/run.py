#!/usr/bin/env python3
"""Programs by chance, built by GCC and Clang in many ways: instrumented they do the same, instruction by instruction.

    run.py --traceback FILE --runtime FILE --decoder FILE --lockstep FILE [--count N] [--seed N]

Each program is instrumented, also by a profile that says that nothing ever ran, read again by the second decoder, and stepped
beside its original. TRACEBACK_SEED chooses the programs; with TRACEBACK_SOAK there are more of them, and longer. What fails is kept, with the commands that made it.
"""

import argparse
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import shapes  # noqa: E402

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
KINDS = ("csmith", "c", "c++")
LINKS = (("-fPIE", "-pie"), ("-fno-pie", "-no-pie"), ("-fPIE", "-pie", "-s"), ("-fno-pie", "-no-pie", "-s"))
COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}
MINUTE = 60


class Failed(Exception):
    pass


def ran(command: list, seconds: float = 2 * MINUTE, **more) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], check=False, capture_output=True, text=True, timeout=seconds, **more)


def source(kind: str, seed: int, folder: pathlib.Path) -> pathlib.Path:
    if kind != "csmith":
        file = folder / ("program.c" if kind == "c" else "program.cpp")
        file.write_text(shapes.program(seed, kind))
        return file
    file = folder / "program.c"
    made = ran(["csmith", "--seed", seed, "--max-funcs", 6, "--max-block-depth", 3, "-o", file], cwd=folder)
    if made.returncode != 0:
        raise Failed(f"csmith: {made.stderr.strip()}")
    return file


def build(file: pathlib.Path, compiler: str, level: str, link: tuple, program: pathlib.Path) -> list:
    c, cxx = COMPILERS[compiler]
    return [cxx if file.suffix == ".cpp" else c, level, "-w", *link, "-I/usr/include/csmith", file, "-o", program, "-lm"]


def profile_of_nothing(program: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """With it, all code has the forms of what hardly ever runs."""
    found = re.search("Build ID: ([0-9a-f]+)", ran(["readelf", "-n", program]).stdout)
    if not found:
        raise Failed("no build id")
    file = folder / "nothing.tbprofile"
    file.write_text(f"traceback-profile 2\nmodule {found[1]}\n0 0 0 0 0\n")
    return file


def check(options: argparse.Namespace, program: pathlib.Path, folder: pathlib.Path, limit: int) -> str:
    """What the lockstep says of the usual form if all is right."""
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder / "run"), "TRACEBACK_BUFFER_SIZE": "65536"}
    (folder / "run").mkdir(mode=0o700, exist_ok=True)
    result = ""
    for mode in (("--null",), ("--profile", profile_of_nothing(program, folder)), ()):
        instrumented = folder / ("instrumented" + "".join(mode[:1]))
        made = ran([options.traceback, "instrument", *mode, program, "-o", instrumented])
        if made.returncode != 0:
            raise Failed(f"instrument: {made.stderr.strip()}")
        read = ran([options.decoder, program, instrumented])
        if read.returncode != 0:
            raise Failed(f"second decoder: {read.stdout[:2000]}{read.stderr}")
        if mode != ("--null",):
            stepped = ran([options.lockstep, "--limit", limit, *options.unwind, "--runtime", options.runtime, program, instrumented],
                          5 * MINUTE, env=environment)
            if stepped.returncode != 0:
                raise Failed(f"lockstep: {stepped.stdout}{stepped.stderr}")
            result = stepped.stdout.strip()
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("traceback", "runtime", "decoder", "lockstep"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    soak = "TRACEBACK_SOAK" in os.environ
    parser.add_argument("--seed", type=int, default=int(os.environ.get("TRACEBACK_SEED", "1")))
    parser.add_argument("--count", type=int, default=40 if soak else 12)
    parser.add_argument("--limit", type=int, default=100_000 if soak else 12_000, help="instructions of each program")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("build/check/generated"), help="where failures go")
    options = parser.parse_args()
    options.unwind = []

    kinds = [kind for kind in KINDS if kind != "csmith" or shutil.which("csmith")]
    compilers = [name for name in COMPILERS if all(map(shutil.which, COMPILERS[name]))]
    print(f"of {', '.join(kinds)} by {', '.join(compilers)}")

    # All combinations in an order in which neighbours differ in everything.
    ways = list(itertools.product(LEVELS, kinds, LINKS, compilers))
    failures, steps = 0, 0
    with tempfile.TemporaryDirectory(prefix="traceback-generated-", dir="/dev/shm") as name:
        for i in range(options.count):
            level, kind, link, compiler = ways[(options.seed * 7919 + i * 77) % len(ways)]
            seed = options.seed * 100_000 + i
            options.unwind = ["--unwind"] if i % 3 == 0 else []
            folder = pathlib.Path(name) / str(i)
            folder.mkdir()
            command = []
            try:
                file = source(kind, seed, folder)
                program = folder / "program"
                command = build(file, compiler, level, link, program)
                built = ran(command)
                if built.returncode != 0:
                    raise Failed(f"the compiler: {built.stderr[:2000]}")
                told = check(options, program, folder, options.limit)
                steps += int(told.split()[0])
                print(f"{seed} {kind} {compiler} {level} {' '.join(link)}: {told}", flush=True)
            except (Failed, subprocess.TimeoutExpired) as error:
                failures += 1
                kept = options.keep / str(seed)
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept, ignore=shutil.ignore_patterns("run"))
                (kept / "commands").write_text(" ".join(map(str, command)).replace(str(folder), ".") + f"\n{error}\n")
                print(f"{seed} {kind} {compiler} {level} {' '.join(link)}: FAILED, kept in {kept}: {error}", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{options.count} programs, {steps} instructions, {failures} failed")
    return 1 if failures or steps == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
