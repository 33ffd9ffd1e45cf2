"""Programs built here from Debian's sources with -O2 -g, recorded, and run under what one could use in TraceBack's place.

uftrace needs a build with -pg, trace-pc one with GCC's -fsanitize-coverage=trace-pc; gdb records every instruction, and is
so slow that its figure comes from the difference of two short runs, as is the plain one beside it.
"""

import dataclasses
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import measure
import overhead

HERE = pathlib.Path(__file__).parent
FLAGS = ("-O2", "-g", "-w")
BUILDS = {"plain": (), "uftrace": ("-pg",), "trace-pc": ("-fsanitize-coverage=trace-pc",)}
MODES = ("plain", "recorded", "trace-pc", "uftrace", "valgrind")
GDB_SHORT, GDB_LONG, PLAIN_LONG = 100, 900, 60_000_000  # rounds of a loop


@dataclasses.dataclass(frozen=True)
class Source:
    name: str
    package: str
    archive: str  # of those that the package has
    sources: tuple[str, ...]  # patterns
    without: tuple[str, ...]  # files among them
    flags: tuple[str, ...]
    arguments: tuple[str, ...]
    loop: str = ""  # a command line argument that counts to {n}, after `-e`


SOURCES = (
    Source("lua", "lua5.4", "lua5.4_*.orig.tar.*", ("src/*.c",), ("luac.c",), ("-DLUA_USE_POSIX", "-lm"), ("work.lua",), "for i = 1, {n} do local x = i * 3 end"),
    Source("bzip2", "bzip2", "bzip2_*.orig.tar.*", ("*.c",), ("bzip2recover.c", "dlltest.c", "mk251.c", "spewG.c", "unzcrash.c"), ("-D_FILE_OFFSET_BITS=64",),
           ("-9", "-c", "mixed")),
    Source("minigzip", "zlib", "zlib_*.orig.tar.*", ("*.c", "test/minigzip.c"), (), ("-D_LARGEFILE64_SOURCE=1", "-DHAVE_UNISTD_H", "-I."), ("-9", "-c", "mixed")),
)


def unpacked(source: Source, folder: pathlib.Path) -> pathlib.Path | None:
    target = folder / source.name
    if (target / ".ready").exists():
        return target
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    subprocess.run(["apt-get", "-qq", "source", "--download-only", source.package], cwd=folder, check=False, capture_output=True)
    archives = sorted(path for path in folder.glob(source.archive) if path.suffix != ".asc")
    if not archives:
        return None
    subprocess.run(["tar", "-xf", archives[-1], "-C", target, "--strip-components=1", "--no-same-owner"], check=True)
    (target / ".ready").touch()
    return target


def built(source: Source, folder: pathlib.Path, build: str) -> pathlib.Path:
    out = folder / f"{source.name}-{build}"
    if not out.exists():
        files = [str(path.relative_to(folder)) for pattern in source.sources for path in sorted(folder.glob(pattern)) if path.name not in source.without]
        extra = []
        if build == "trace-pc":
            subprocess.run(["cc", "-O2", "-c", HERE / "trace_pc.c", "-o", "trace_pc.o"], cwd=folder, check=True)
            extra = ["trace_pc.o"]
        subprocess.run(["cc", *FLAGS, *BUILDS[build], *files, *extra, *source.flags, "-o", out], cwd=folder, check=True, capture_output=True)
    return out


class Peers(overhead.Overhead):
    def command_of(self, source: Source, folder: pathlib.Path, mode: str, arguments: tuple[str, ...]) -> list[str]:
        program = [str(built(source, folder, mode if mode in BUILDS else "plain")), *arguments]
        return {"plain": program, "trace-pc": program, "recorded": [str(self.traceback), "run", "--no-profile", "--", *program],
                "valgrind": ["valgrind", "-q", "--tool=none", *program],
                "uftrace": ["uftrace", "record", "--no-libcall", "-d", str(self.folder / "uftrace.data"), *program]}[mode]

    def gdb_ratio(self, source: Source, folder: pathlib.Path) -> float | None:
        """Time for each round of a loop, recorded by gdb, over plain."""
        program = built(source, folder, "plain")

        def seconds(words: list[str]) -> float:
            began = time.monotonic()
            subprocess.run(words, cwd=self.folder, env={**self.environment, "LD_BIND_NOW": "1"}, check=False, capture_output=True, timeout=measure.LIMIT)
            return time.monotonic() - began

        def recorded(rounds: int) -> float:
            commands = ["set confirm off", "set pagination off", "break luaV_execute", "run", "delete", "record full", "set record full insn-number-max 100000",
                        "set record full stop-at-limit off", "break lua_close", "continue", "kill"]
            return seconds(["gdb", "-q", "-nx", "-batch", *[part for command in commands for part in ("-ex", command)],
                            "--args", str(program), "-e", source.loop.format(n=rounds)])

        def plain(rounds: int) -> float:
            return statistics.median(seconds([str(program), "-e", source.loop.format(n=rounds)]) for _ in range(3))

        if not source.loop or not shutil.which("gdb"):
            return None
        each_recorded = (recorded(GDB_LONG) - recorded(GDB_SHORT)) / (GDB_LONG - GDB_SHORT)
        return each_recorded / ((plain(PLAIN_LONG) - plain(0)) / PLAIN_LONG)

    def history(self, source: Source, folder: pathlib.Path, bench_load: pathlib.Path) -> dict:
        """Of a run that is ended in its midst: source lines for each byte of the ring, and how long it reaches back."""
        with tempfile.TemporaryDirectory() as snaps:
            command = [str(self.traceback), "run", "--snap-dir", snaps, "--", str(built(source, folder, "plain")), *source.arguments]
            subprocess.run(["timeout", "-s", "ABRT", "0.8", *command], cwd=self.folder, env=self.environment, check=False, capture_output=True)
            snap = next(pathlib.Path(snaps).glob("*.tbsnap"))
            return json.loads(subprocess.run([bench_load, snap], capture_output=True, check=True).stdout)

    def of_source(self, source: Source, rounds: int, bench_load: pathlib.Path | None) -> dict:
        folder = unpacked(source, self.state / "sources")
        if folder is None:
            return {"problem": f"the source package {source.package} cannot be had"}
        modes = [mode for mode in MODES if mode not in ("valgrind", "uftrace") or shutil.which(mode)]
        seconds = {mode: [] for mode in modes}
        said = set()
        for turn in range(rounds + 1):
            for mode, list_of in seconds.items():
                ran = measure.timed(self.command_of(source, folder, mode, source.arguments), self.folder, self.environment)
                shutil.rmtree(self.folder / "uftrace.data", ignore_errors=True)
                said.add((ran.status, ran.said))
                if turn > 0:  # the first instruments
                    list_of.append(ran.seconds)
        if len(said) != 1:
            return {"problem": "not all have the same result"}
        figures = {mode: statistics.median(list_of) for mode, list_of in seconds.items()}
        if (ratio := self.gdb_ratio(source, folder)) is not None:
            figures["gdb"] = ratio * figures["plain"]
        if bench_load:
            loaded = self.history(source, folder, bench_load)
            figures["lines_per_byte"] = loaded["lines"] / (4 * loaded["records"])
            figures["lines"] = loaded["lines"]
        return figures


def table(rows: list[tuple[str, dict]]) -> str:
    out = ["## Beside other tools\n\nPrograms built with `-O2 -g`; processor time as a ratio to the plain build's, medians of interleaved runs. gdb: `record full`, from "
           "the time of each round of a short loop. History: source lines in a ring, and for each byte of it.\n",
           "| program | plain, s | TraceBack | trace-pc, a ring | uftrace, -pg | valgrind, no tool | gdb | lines | lines a byte |\n|---|---|---|---|---|---|---|---|---|"]
    for name, value in rows:
        if "problem" in value:
            out.append(f"| {name} | not measured: {value['problem']} | | | | | | | |")
            continue

        def ratio(mode: str, value=value) -> str:
            return f"{value[mode] / value['plain']:,.2f}" if mode in value else "-"

        gdb = f"{value['gdb'] / value['plain']:,.0f}" if "gdb" in value else "-"
        history = f"{value['lines']:,} | {value['lines_per_byte']:.2f}" if "lines" in value else "- | -"
        out.append(f"| {name} | {value['plain']:.2f} | {ratio('recorded')} | {ratio('trace-pc')} | {ratio('uftrace')} | {ratio('valgrind')} | {gdb} | {history} |")
    return "\n".join(out) + "\n"
