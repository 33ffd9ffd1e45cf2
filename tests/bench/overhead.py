"""What recording costs: time, memory and code of real programs, also with a profile, beside valgrind without a tool."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

import measure
from programs import LIBRARIES, PROGRAMS, Program, inputs

MODES = ("plain", "null", "recorded", "profiled")
REFERENCE = "valgrind"  # once: it takes its time
PEAKS = 5  # runs for the peak of memory


def hot_files(program: Program) -> list[pathlib.Path]:
    return [pathlib.Path(program.path()).resolve(), *((LIBRARIES / name).resolve() for name in program.libraries)]


def growth(traceback: pathlib.Path, program: Program, *options: str) -> tuple[float, float]:
    """New code over old, of the files that do the work; and the tables beside it, in which copies look up where jumps lead."""
    old = new = tables = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in hot_files(program):
            ran = subprocess.run([traceback, "instrument", *options, file, "--output-dir", folder, "--report", "json"], capture_output=True, text=True, check=False)
            if ran.returncode != 0:  # it runs as it is
                continue
            report = json.loads(ran.stdout)
            old, new, tables = old + report["text_bytes"], new + report["new_text_bytes"], tables + report["table_bytes"]
    return new / max(1, old), tables / max(1, old)


class Overhead:
    """Of one build; a round has a run of each kind, and each must say and write what the plain one does."""

    def __init__(self, traceback: pathlib.Path, state: pathlib.Path):
        self.traceback, self.state = traceback, state
        self.rings = pathlib.Path(tempfile.mkdtemp(prefix="traceback-bench-", dir="/dev/shm"))
        self.environment = measure.environment(state, self.rings)
        self.folder, self.training = state / "inputs", state / "training"
        for folder in (self.folder, self.training):
            shutil.rmtree(folder, ignore_errors=True)
            inputs(folder, training=folder == self.training)

    def close(self) -> None:
        shutil.rmtree(self.rings, ignore_errors=True)

    def command(self, program: Program, mode: str) -> list[str]:
        plain = [program.path(), *program.command[1:]]
        return {"plain": plain, "null": [str(self.traceback), "run", "--null", "--", *plain], "recorded": [str(self.traceback), "run", "--no-profile", "--", *plain],
                "profiled": [str(self.traceback), "run", "--profile", str(self.profile(program)), "--", *plain],
                "valgrind": ["valgrind", "-q", "--tool=none", *plain]}[mode]

    def profile(self, program: Program) -> pathlib.Path:
        return self.state / f"{program.name}.tbprofile"

    def train(self, program: Program) -> str:
        """Makes the profile, of a run on other input. Says what went wrong."""
        command = list(program.training or program.command)
        with open(self.training / program.reads if program.reads else os.devnull, "rb") as source:
            made = subprocess.run([self.traceback, "profile", "-o", self.profile(program), "--", program.path(), *command[1:]],
                                  cwd=self.training, env=self.environment, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        return "" if made.returncode == 0 else made.stderr  # (how the program ended may be an answer)

    def peak(self, program: Program, mode: str) -> tuple[float, float]:
        """Megabytes, and of these the rings: the least of several, for an allocator keeps a twentieth more in some, by chance."""
        peaks = []
        for _ in range(PEAKS):
            measure.forget([*hot_files(program), *(file for file in (self.state / "cache").rglob("*") if file.is_file())])
            peaks.append(measure.peak_megabytes(self.command(program, mode), self.folder, self.environment, program.reads))
        return min(peaks)

    def of(self, program: Program, rounds: int) -> dict:
        def run(mode: str) -> measure.Run:
            return measure.timed(self.command(program, mode), self.folder, self.environment, program.reads, program.result, program.lines)

        reference = run("plain")
        if problem := self.train(program):
            return {"problem": problem}
        for mode in MODES:  # so that it is instrumented, too
            ran = run(mode)
            if (ran.status, ran.said) != (reference.status, reference.said):
                return {"problem": f"{mode}: another result"}
        seconds = {mode: [] for mode in MODES}
        for _ in range(rounds):
            for mode, list_of in seconds.items():
                list_of.append(run(mode).seconds)
        figures = {"plain": statistics.median(seconds["plain"])}
        for mode in MODES[1:]:
            figures[mode] = measure.over(seconds["plain"], seconds[mode])
            figures[f"{mode}_least"] = min(seconds[mode]) / min(seconds["plain"])
        if shutil.which("valgrind"):
            figures[REFERENCE] = run(REFERENCE).seconds / figures["plain"]
        for mode in ("plain", "recorded", "profiled"):
            figures[f"{mode}_mb"], figures[f"{mode}_rings"] = self.peak(program, mode)
        figures["growth"], figures["tables"] = growth(self.traceback, program)
        figures["profiled_growth"], _ = growth(self.traceback, program, "--profile", str(self.profile(program)))
        return figures


def chosen(names: list[str] | None) -> list[Program]:
    return [program for program in PROGRAMS if program.path() and (not names or program.name in names)]


def table(rows: list[tuple[str, dict]]) -> str:
    out = ["## Overhead\n\nProcessor time as a ratio to the plain program's in the same round; medians of several rounds (valgrind, `--tool=none`: one). Memory: the peak's "
           "growth over plain, recorded and with a profile, and in parentheses what it is to keep within: the rings, 5 % and 8 MiB. Code: new over old, recorded and with a profile, and the tables. With a profile: made of a run on other input.\n",
           "| program | plain, s | copied code alone | recording | with a profile | valgrind | memory, MB | code (tables) |\n|---|---|---|---|---|---|---|---|"]
    good = [(name, value) for name, value in rows if "problem" not in value]
    for name, value in rows:
        if "problem" in value:
            out.append(f"| {name} | not measured: {value['problem']} | | | | | | |")
            continue
        valgrind = f"{value[REFERENCE]:.1f}" if REFERENCE in value else "-"
        out.append(f"| {name} | {value['plain']:.2f} | {value['null']:.2f} | {value['recorded']:.2f} | {value['profiled']:.2f} | {valgrind} | "
                   f"{value['plain_mb']:.0f} + {value['recorded_mb'] - value['plain_mb']:.1f}, {value['profiled_mb'] - value['plain_mb']:.1f} ({value['profiled_rings'] + 0.05 * value['plain_mb'] + 8:.1f}) | {value['growth']:.2f}, {value['profiled_growth']:.2f} ({value['tables']:.2f}) |")
    if good:
        def mean(key: str) -> float:
            return statistics.geometric_mean(value[key] for _, value in good)

        def with_most(key: str) -> str:
            return f"{mean(key):.2f} (most {max(value[key] for _, value in good):.2f})"

        tables = statistics.fmean(value["tables"] for _, value in good)
        valgrind = f"{mean(REFERENCE):.1f}" if all(REFERENCE in value for _, value in good) else "-"
        out.append(f"| geometric mean | | {mean('null'):.2f} | {with_most('recorded')} | {with_most('profiled')} | {valgrind} | | {mean('growth'):.2f}, {mean('profiled_growth'):.2f} ({tables:.2f}) |")
        out.append(f"| the same of the least of each, which neighbours disturb least | | {mean('null_least'):.2f} | {with_most('recorded_least')} | {with_most('profiled_least')} | | | |")
    return "\n".join(out) + "\n"
