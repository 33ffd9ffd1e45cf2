#!/usr/bin/env python3
"""The figures: what recording costs, how fast programs are instrumented, and traces loaded and shown.

overhead    processor time of real programs, plain, in null mode (copied code, no probes) and with probes: the runs
            are interleaved, and the ratios are of the medians
instrument  megabytes of machine code instrumented a second
load        source lines reconstructed a second
viewer      seconds from the command to the painted window (drawn off screen)
scale       a snap of 1 GiB of rings of 64 threads: until the newest is shown, until all is read, a step, memory;
            and, of a short run of the same program, a step beside gdb's reverse-step

Writes a table to standard output and to build/bench.md. What was measured is kept; a run that was stopped goes on.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "corpus"))
from harness import MODES, Harness, hash_of  # noqa: E402
from short import JOBS  # noqa: E402

BENCHES = [job for job in JOBS if job.bench_scale or job.bench_n]
INSTRUMENTED = ["gzip", "zstd", "sqlite3", "gawk", "perl", "git", "gdb"]
PARTS = ["overhead", "instrument", "load", "viewer", "scale"]


class Results:
    """What was measured, kept in a file after each measurement, for one build of the programs."""

    def __init__(self, file: pathlib.Path, build: str, again: bool):
        self.file = file
        self.values = json.loads(file.read_text()) if file.exists() and not again else {}
        if self.values.get("build") != build:
            self.values = {"build": build}

    def measured(self, key: str, measure):
        if key not in self.values:
            print(f"bench: {key}", file=sys.stderr, flush=True)
            value = measure()
            if value is None:
                return None
            self.values[key] = value
            self.file.write_text(json.dumps(self.values, indent=1))
        return self.values[key]


def overhead(job, options, state) -> dict:
    harness = Harness(options.programs, state, job.bench_scale or 1, {"n": job.bench_n, "sql": job.bench_n, "bc": job.bench_n})
    seconds = {mode: [] for mode in ("plain", *MODES)}
    problem = None
    reference = harness.run(job, "plain")
    for mode in MODES:  # also instruments, so that it is not measured
        problem = problem or reference.difference(harness.run(job, mode))
    if problem is None:
        for _ in range(options.rounds):
            for mode, list_of in seconds.items():
                list_of.append(harness.run(job, mode).seconds)
    harness.close()
    shutil.rmtree(harness.inputs)
    if problem:
        return {"problem": problem}
    return {mode: statistics.median(list_of) for mode, list_of in seconds.items()}


def code_size(program: str) -> int:
    lines = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return sum(int(line.split("]")[1].split()[4], 16) for line in lines if "PROGBITS" in line and " AX " in line)


def instrumenting(traceback: pathlib.Path, program: str) -> dict | None:
    path = shutil.which(program)
    if path is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for _ in range(3):
            start = time.monotonic()
            ran = subprocess.run([traceback, "instrument", os.path.realpath(path), "--output-dir", folder, "--report", "json"],
                                 capture_output=True, text=True, check=False)
            times.append(time.monotonic() - start)
            if ran.returncode != 0:
                return {"problem": ran.stderr.strip()}
        report = json.loads(ran.stdout)
    return {"code": code_size(path), "seconds": statistics.median(times), "functions": report["functions"],
            "instrumented": report["instrumented"], "bytes": report["text_bytes"], "new_bytes": report["new_text_bytes"]}


def snap_of(traceback: pathlib.Path, state: pathlib.Path, program: str, *arguments: str) -> pathlib.Path:
    """Of a program here, with line information, whose rings of 16 MB are full when it dies."""
    folder = state / program
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["cc", "-g", "-O1", "-pthread", "-o", folder / program, HERE / f"{program}.c"], check=True)
    subprocess.run([traceback, "run", "--buffer-size", "16M", "--snap-dir", folder, "--", folder / program, *arguments],
                   check=False, capture_output=True, preexec_fn=no_core)
    return next(folder.glob("*.tbsnap"))


def no_core() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def loading(programs: pathlib.Path, snap: pathlib.Path) -> dict | None:
    tool = next(programs.rglob("bench_load"), None)
    if tool is None:
        return None
    runs = [json.loads(subprocess.run([tool, snap], capture_output=True, check=True).stdout) for _ in range(3)]
    middle = sorted(runs, key=lambda run: run["open_seconds"] + run["expand_seconds"])[1]
    return {**middle, "snap_bytes": snap.stat().st_size}


SHORT_RUN = ["1", "1000"]  # threads and rounds of what gdb can record in a minute
GDB_STEPS = 300


def reverse_steps(program: pathlib.Path) -> float | None:
    """Milliseconds of one reverse-step of gdb, in a short run that `record full` has recorded."""
    if shutil.which("gdb") is None:
        return None
    commands = ["set confirm off", "set pagination off", "break expression", "run", "delete", "record full", "set record full insn-number-max unlimited",
                *["step"] * GDB_STEPS, "python import time; began = time.monotonic()", *["reverse-step"] * (GDB_STEPS // 2),
                f"python print('each', (time.monotonic() - began) * 1000 / {GDB_STEPS // 2})", "kill"]
    ran = subprocess.run(["gdb", "-q", "-nx", "-batch", *[part for command in commands for part in ("-ex", command)], "--args", program, *SHORT_RUN],
                         capture_output=True, text=True, check=False, timeout=600)
    found = [line for line in ran.stdout.splitlines() if line.startswith("each ")]
    return float(found[0].split()[1]) if found else None


def scale(programs: pathlib.Path, traceback: pathlib.Path, state: pathlib.Path) -> dict | None:
    tool = next(programs.rglob("bench_steps"), None)
    if tool is None:
        return None

    def steps(snap: pathlib.Path) -> dict:
        return json.loads(subprocess.run([tool, snap], capture_output=True, check=True).stdout)

    snap = snap_of(traceback, state, "workers", "64", "400000")
    result = {**steps(snap), "snap_bytes": snap.stat().st_size}
    viewer = programs / "bin" / "traceback-viewer"
    if viewer.exists():
        result.update(painting(viewer, snap))
    short = snap_of(traceback, state / "short", "workers", *SHORT_RUN)
    result["short"] = steps(short)
    result["gdb_step_ms"] = reverse_steps(short.parent / "workers")
    return result


def painting(viewer: pathlib.Path, snap: pathlib.Path) -> dict:
    """Until the fault is on the screen, of five starts; and the most memory once all has been read."""
    times, memory = [], 0
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "XDG_CONFIG_HOME": home}
        for attempt in range(5):
            with subprocess.Popen([viewer, "--time-to-paint", snap], stdout=subprocess.PIPE, text=True, env=environment) as process:
                times.append(float(process.stdout.readline().split()[3]))
                if attempt == 4:
                    # Idle for a second: all is read, and the lines are counted.
                    before = -1.0
                    while (now := processor_seconds(process.pid)) - before > 0.5:
                        before = now
                        time.sleep(5)
                    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                    memory = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024
                process.kill()
    return {"paint_ms": statistics.median(times), "viewer_peak_mb": memory}


def processor_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def viewing(programs: pathlib.Path, snap: pathlib.Path) -> dict | None:
    viewer = programs / "bin" / "traceback-viewer"
    if not viewer.exists():
        return None
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(5):
            start = time.monotonic()
            subprocess.run([viewer, "--screenshot", f"{folder}/a.png", snap], check=True, capture_output=True,
                           env={**os.environ, "QT_QPA_PLATFORM": "offscreen"})
            times.append(time.monotonic() - start)
    return {"seconds": statistics.median(times)}


def table(values: dict) -> str:
    out = [f"# Figures\n\n{platform.machine()}, {processor()}, {os.cpu_count()} cores, Linux {platform.release()}\n"]
    rows = [(key.split(" ")[1], value) for key, value in values.items() if key.startswith("overhead ")]
    if rows:
        out.append("## Overhead\n\nProcessor time as a ratio to the plain program's; medians of interleaved runs.\n")
        out.append("| job | plain, s | null mode | recording |\n|---|---|---|---|")
        for name, value in rows:
            if "problem" in value:
                out.append(f"| {name} | not measured: {value['problem']} | | |")
            else:
                out.append(f"| {name} | {value['plain']:.2f} | {value['null'] / value['plain']:.2f} | "
                           f"{value['probes'] / value['plain']:.2f} |")
        ratios = [value["probes"] / value["plain"] for _, value in rows if "problem" not in value]
        if ratios:
            out.append(f"| geometric mean | | | {statistics.geometric_mean(ratios):.2f} |")
        out.append("")
    rows = [(key.split(" ")[1], value) for key, value in values.items() if key.startswith("instrument ")]
    if rows:
        out.append("## Instrumenting\n\n| program | code, MB | MB/s | functions | instrumented | growth of their code |\n|---|---|---|---|---|---|")
        for name, value in rows:
            if "problem" in value:
                out.append(f"| {name} | not measured: {value['problem']} | | | | |")
                continue
            out.append(f"| {name} | {value['code'] / 1e6:.2f} | {value['code'] / 1e6 / value['seconds']:.2f} | {value['functions']} | "
                       f"{100 * value['instrumented'] / max(1, value['functions']):.1f} % | "
                       f"{value['new_bytes'] / max(1, value['bytes']):.2f} |")
        out.append("")
    if load := values.get("load"):
        total = load["open_seconds"] + load["expand_seconds"]
        out.append(f"## Loading\n\nA snap of {load['snap_bytes'] / 1e6:.1f} MB: open in {load['open_seconds']:.2f} s; all of its "
                   f"{load['lines']} lines from {load['records']} records in {total:.2f} s: **{load['lines'] / total:,.0f} lines a second**.\n")
    if view := values.get("viewer"):
        out.append(f"## Viewer\n\nFrom the command to the painted window, the same snap: **{view['seconds']:.2f} s**.\n")
    if large := values.get("scale"):
        gdb = f"{large['gdb_step_ms']:.1f} ms" if large["gdb_step_ms"] else "not measured"
        run = large.get("short")
        short = f"{run['step_median_ms']:.3f}, {run['step_p99_ms']:.3f} ms" if run else "not measured"
        out.append(f"## Scale\n\nRings of 1 GiB of 65 threads: {large['records']:,} records, {large['entries']:,} lines and events, "
                   f"{large['snap_bytes'] / 1e6:.0f} MB on disk.\n\n| what | measured |\n|---|---|\n"
                   f"| from the command to the fault on the screen | {large.get('paint_ms', 0) / 1000:.2f} s |\n"
                   f"| the newest of every thread read | {large['newest_seconds']:.2f} s |\n"
                   f"| all of the thread at fault read | {large['first_thread_seconds']:.2f} s |\n"
                   f"| everything read, in the background | {large['all_seconds']:.1f} s |\n"
                   f"| a step, median, 99th percentile, most | {large['step_median_ms']:.3f}, {large['step_p99_ms']:.1f}, {large['step_most_ms']:.1f} ms |\n"
                   f"| a step in a short run of the same program, median, 99th percentile | {short} |\n"
                   f"| gdb's reverse-step in that run, in {GDB_STEPS} lines of it under `record full` | {gdb} |\n"
                   f"| peak memory: loader and index; viewer | {large['peak_mb']:.0f} MB; {large.get('viewer_peak_mb', 0):.0f} MB |\n")
    return "\n".join(out)


def processor() -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./check bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", help=f"of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each kind for the overhead (default: 5)")
    parser.add_argument("--job", action="append", help="only this program's overhead")
    parser.add_argument("--again", action="store_true", help="measure also what has been measured with this build")
    parser.add_argument("--programs", type=pathlib.Path, default="build/release", help=argparse.SUPPRESS)
    parser.add_argument("--state", type=pathlib.Path, default="build/check/bench", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if wrong := set(options.part) - set(PARTS):
        parser.error(f"no such part: {', '.join(wrong)}")
    parts = options.part or PARTS

    options.programs = options.programs.resolve()
    state = options.state.resolve()
    state.mkdir(parents=True, exist_ok=True)
    traceback = options.programs / "bin" / "traceback"
    build = hash_of(traceback) + hash_of(options.programs / "lib" / "libtraceback.so")
    results = Results(state / "results.json", build, options.again)

    if "overhead" in parts:
        for job in BENCHES:
            if shutil.which(job.program) and (not options.job or job.program in options.job):
                results.measured(f"overhead {job.program}", lambda job=job: overhead(job, options, state))
    if "instrument" in parts:
        for program in INSTRUMENTED:
            results.measured(f"instrument {program}", lambda program=program: instrumenting(traceback, program))
    if "load" in parts or "viewer" in parts:
        snap = snap_of(traceback, state, "calculator", "200000")
        if "load" in parts:
            results.measured("load", lambda: loading(options.programs, snap))
        if "viewer" in parts:
            results.measured("viewer", lambda: viewing(options.programs, snap))

    if "scale" in parts:
        results.measured("scale", lambda: scale(options.programs, traceback, state))

    text = table(results.values)
    (state.parent.parent / "bench.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
