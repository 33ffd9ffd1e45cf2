"""How fast traces are loaded and shown, and how the viewer bears a large one."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent


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


def reverse_steps(state: pathlib.Path) -> float | None:
    """Milliseconds of one reverse-step of gdb, in the short run, which `record full` has recorded."""
    program = state / "short" / "workers" / "workers"
    if shutil.which("gdb") is None or not program.exists():
        return None
    commands = ["set confirm off", "set pagination off", "break expression", "run", "delete", "set scheduler-locking on",
                "record full", "set record full insn-number-max unlimited",
                *["step"] * GDB_STEPS, "python import time; began = time.monotonic()", *["reverse-step"] * (GDB_STEPS // 2),
                f"python print('each', (time.monotonic() - began) * 1000 / {GDB_STEPS // 2})", "kill"]
    try:
        ran = subprocess.run(["gdb", "-q", "-nx", "-batch", *[part for command in commands for part in ("-ex", command)], "--args", program, *SHORT_RUN],
                             capture_output=True, text=True, check=False, timeout=600)
    except subprocess.TimeoutExpired:
        return None
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
    """Of what was measured here, by its key."""
    out = []
    if load := values.get("load"):
        total = load["open_seconds"] + load["expand_seconds"]
        out.append(f"## Loading\n\nA snap of {load['snap_bytes'] / 1e6:.1f} MB: open in {load['open_seconds']:.2f} s; all of its "
                   f"{load['lines']} lines from {load['records']} records in {total:.2f} s: **{load['lines'] / total:,.0f} lines a second**.\n")
    if view := values.get("viewer"):
        out.append(f"## Viewer\n\nFrom the command to the painted window, the same snap: **{view['seconds']:.2f} s**.\n")
    if large := values.get("scale"):
        gdb = f"{values['scale reverse-step']:.1f} ms" if "scale reverse-step" in values else "not measured"
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
