#!/usr/bin/env python3
"""The figures: what recording costs, how fast programs are instrumented, and traces loaded and shown.

overhead    processor time, memory and code of CPU-bound programs, as they are, in null mode (copied code, no probes),
            recorded, and under valgrind without a tool: a run of each in turns, medians of the ratios in a turn
techniques  the same programs' files, instrumented with and without each technique that makes probes cheap
servers     requests a second and latency of servers that have one processor: plain, recorded and by a profile beside each other, loaded in turns;
            started anew several times, with their files read anew
peers       programs built here, recorded, beside uftrace, GCC's trace-pc, valgrind and gdb's record; and what a ring holds
instrument  seconds and megabytes of machine code a second
load        source lines reconstructed a second
viewer      seconds from the command to the painted window (drawn off screen)
scale       a snap of 1 GiB of rings of 64 threads: until the newest is shown, until all is read, a step, memory;
            and, of a short run of the same program, a step beside gdb's reverse-step

Writes a table to standard output and to build/bench.md. What was measured is kept; a run that was stopped goes on.
"""

import argparse
import contextlib
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "corpus"))
import instrumenting  # noqa: E402
import loading  # noqa: E402
import overhead  # noqa: E402
import peers  # noqa: E402
import serving  # noqa: E402
import techniques  # noqa: E402
from harness import hash_of  # noqa: E402
from results import Results  # noqa: E402
from state import alone_in, end_when_told  # noqa: E402

PARTS = ["overhead", "techniques", "servers", "peers", "instrument", "load", "viewer", "scale"]


def measure_programs(results: Results, options, part: str, bench: overhead.Overhead) -> None:
    with contextlib.closing(bench):
        for program in overhead.chosen(options.only):
            results.measured(f"{part} {program.name}", lambda program=program: bench.of(program, options.rounds))


def measure_servers(results: Results, options, build: str, state: pathlib.Path) -> None:
    with contextlib.closing(serving.Serving(options.programs, state, build)) as bench:
        for name, load in serving.LOADS.items():
            if not options.only or name in options.only:
                results.measured(f"servers {name}", lambda load=load: bench.of(load, options.rounds, options.seconds))


def measure_peers(results: Results, options, traceback: pathlib.Path, state: pathlib.Path) -> None:
    tool = next(options.programs.rglob("bench_load"), None)
    with contextlib.closing(peers.Peers(traceback, state)) as bench:
        for source in peers.SOURCES:
            if not options.only or source.name in options.only:
                results.measured(f"peers {source.name}", lambda source=source: bench.of_source(source, options.rounds, tool))


def measure_loading(results: Results, options, parts: list[str], traceback: pathlib.Path, state: pathlib.Path) -> None:
    if "load" in parts or "viewer" in parts:
        snap = loading.snap_of(traceback, state, "calculator", "200000")
        if "load" in parts:
            results.measured("load", lambda: loading.loading(options.programs, snap))
        if "viewer" in parts:
            results.measured("viewer", lambda: loading.viewing(options.programs, snap))
    if "scale" in parts:
        results.measured("scale", lambda: loading.scale(options.programs, traceback, state))
        results.measured("scale reverse-step", lambda: loading.reverse_steps(state))


def machine() -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    processor = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")
    compiler = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=False).stdout.strip()
    system = next(line.partition("=")[2].strip('"') for line in pathlib.Path("/etc/os-release").read_text().splitlines() if line.startswith("PRETTY_NAME"))
    return f"{processor}, {os.cpu_count()} processors, Linux {platform.release()}, {system}, GCC {compiler}; load {os.getloadavg()[1]:.1f}"


def table(results: Results) -> str:
    out = [f"# Figures\n\n{machine()}\n"]
    for part, written in (("overhead", overhead.table), ("techniques", techniques.table), ("servers", serving.table), ("peers", peers.table), ("instrument", instrumenting.table)):
        if rows := results.rows(part):
            out.append(written(rows))
    return "\n".join([*out, loading.table(results.values)])


def main() -> int:
    parser = argparse.ArgumentParser(prog="./check bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind for overhead, techniques and peers, and a third of the starts of servers (default: 5)")
    parser.add_argument("--seconds", type=int, default=1, help="that each of the loads on a server takes (default: 1)")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this program, server or build")
    parser.add_argument("--again", action="store_true", help="of what is asked for, measure also what has been measured with this build")
    parser.add_argument("--programs", type=pathlib.Path, default="build/release", help=argparse.SUPPRESS)
    parser.add_argument("--state", type=pathlib.Path, default="build/check/bench", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if wrong := set(options.part) - set(PARTS):
        parser.error(f"no such part: {', '.join(wrong)}")
    parts = options.part or PARTS

    options.programs = options.programs.resolve()
    state = options.state.resolve()
    held = alone_in(state)  # noqa: F841
    end_when_told()
    traceback = options.programs / "bin" / "traceback"
    build = hash_of(traceback) + hash_of(options.programs / "lib" / "libtraceback.so")
    results = Results(state / "results.json", build)
    if options.again:
        results.forget(parts, options.only)

    if "overhead" in parts:
        measure_programs(results, options, "overhead", overhead.Overhead(traceback, state))
    if "techniques" in parts:
        measure_programs(results, options, "techniques", techniques.Techniques(traceback, state))
    if "servers" in parts:
        measure_servers(results, options, build, state)
    if "peers" in parts:
        measure_peers(results, options, traceback, state)
    if "instrument" in parts:
        for program in instrumenting.PROGRAMS:
            results.measured(f"instrument {program}", lambda program=program: instrumenting.measured(traceback, program))
    measure_loading(results, options, parts, traceback, state)

    text = table(results)
    (state.parent.parent / "bench.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
