"""What recording costs servers: requests a second and how long one takes, under a load that keeps them busy, plain, recorded and by a profile in turns."""

import dataclasses
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "corpus"))
import measure  # noqa: E402
import servers  # noqa: E402
from objects import LEFT_OUT, SHOWN, Objects  # noqa: E402
from runner import Runner  # noqa: E402

SERVER_ON, LOAD_ON = ("taskset", "-c", "0"), "taskset -c 1 "  # so that the server is what there is too little of
MILLISECONDS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
WRK = "wrk -t1 -c20 -d{{seconds}}s --latency http://127.0.0.1:{port}/page"
WRK_RATE, WRK_MIDDLE, WRK_LATE = r"Requests/sec:\s+([\d.]+)", r" 50%\s+([\d.]+\w+)", r" 99%\s+([\d.]+\w+)"
LOADS = {  # by the server's name: what makes the load, and where in what it prints are the rate, the median and the 99th percentile
    "apache2": (WRK.format(port=18080), WRK_RATE, WRK_MIDDLE, WRK_LATE),
    "nginx": (WRK.format(port=18081), WRK_RATE, WRK_MIDDLE, WRK_LATE),
    "redis": ("redis-benchmark -p 16379 -n {requests} -c 20 -t get --csv", r'"GET","([\d.]+)', r'"GET",(?:"[\d.]+",){3}"([\d.]+)', r'"GET",(?:"[\d.]+",){5}"([\d.]+)'),
    "memcached": ("memcaslap -s 127.0.0.1:11311 -T 1 -c 16 -t {seconds}s", r"TPS: (\d+)", "", ""),
    "postgresql": ("as $B/pgbench -c4 -j1 -T{seconds} -S -h 127.0.0.1 -p 15432 postgres", r"tps = ([\d.]+)", r"latency average = ([\d.]+) ms", ""),
}
REQUESTS_A_SECOND = 60_000  # about what redis answers
STARTS = 2  # for each round: where a server's pages lie decides by several percent how fast it is
TIMES = "grep '^cpu0 ' /proc/stat"  # of the server's processor
PROCESSES = "apache2 nginx redis-server memcached postgres"
# While the load goes on, of whatever is recorded.
SNAPS = """({load}) & load=$!; sleep 1; mkdir -p snaps
for i in 1 2 3; do for p in $(pidof {processes}); do {shown}/bin/traceback snap --memory none --snap-dir $PWD/snaps $p; done; sleep 0.3; done; wait $load"""


def number(text: str, pattern: str) -> float | None:
    """Of milliseconds, if a unit follows."""
    found = re.search(pattern, text) if pattern else None
    if not found:
        return None
    value, unit = re.fullmatch(r"([\d.]+)([a-z]*)", found[1]).groups()
    return float(value) * MILLISECONDS.get(unit, 1.0)


def program_share(text: str) -> float:
    """Of the processor's time between two TIMES, that of programs rather than the kernel's."""
    begin, end = (list(map(int, times.split()[:8])) for times in re.findall(r"^cpu0 (.*)", text, re.M))
    spent = [after - before for before, after in zip(begin, end)]
    return (spent[0] + spent[1]) / max(1, sum(spent))


class Serving:
    def __init__(self, programs: pathlib.Path, state: pathlib.Path, build: str):
        self.traceback = programs.resolve() / "bin" / "traceback"
        self.runner = Runner(Objects(self.traceback, state, build), state, programs, "bound")

    def close(self) -> None:
        self.runner.close()

    def profile(self, server: servers.Server, lines: list[str]) -> pathlib.Path | str:
        """Of the recorded server under such a load; or what went wrong."""
        snapped = dataclasses.replace(server, load=SNAPS.format(load=server.load, processes=PROCESSES, shown=SHOWN))
        said, _ = servers.said_of(snapped, self.runner, "probes", lines, SERVER_ON)
        snaps = sorted((self.runner.top / server.name / "snaps").glob("*.tbsnap"))
        profile = self.runner.top / f"{server.name}.tbprofile"
        made = subprocess.run([self.traceback, "profile", *snaps, "-o", profile], capture_output=True, text=True, check=False)
        return profile if made.returncode == 0 else f"{made.stderr.strip()} {said[-200:]}"

    def of(self, name: str, rounds: int, seconds: int) -> dict:
        load, rate, middle, late = LOADS[name]
        text = load.format(seconds=seconds, requests=seconds * REQUESTS_A_SECOND)
        prefix = text.replace("as ", f"as {LOAD_ON}", 1) if text.startswith("as ") else LOAD_ON + text
        original = next(server for server in servers.SERVERS if server.name == name)
        single = dataclasses.replace(original, load=prefix)
        # Once in advance, for until then servers start more of their threads and processes.
        server = dataclasses.replace(original, load=f"{prefix} > first; sleep 1; {TIMES}; {prefix}; {TIMES}")
        self.runner.listing("observed")
        fine, told = servers.once(original, self.runner, "observed", [])
        if not fine:
            return {"problem": f"plain: {told}"}
        paths = [path for path in self.runner.paths_observed() if not LEFT_OUT.search(path)]
        lines, _ = self.runner.bound(paths, "probes")
        profile = self.profile(single, lines)
        if isinstance(profile, str):
            return {"problem": f"profile: {profile}"}
        by_profile, _ = self.runner.bound(paths, "probes", {path: ("--profile", str(profile)) for path in paths})
        bound = {"plain": [], "recorded": lines, "profiled": by_profile}
        figures = {mode: [] for mode in bound}
        for _ in range(STARTS * rounds):
            for mode, list_of in figures.items():
                measure.forget(pathlib.Path(file) for file in {*paths, *(line.split("\t")[0] for line in bound[mode])})  # so that they lie elsewhere
                said, made = servers.said_of(server, self.runner, "probes" if bound[mode] else "plain", bound[mode], SERVER_ON)
                if re.search(original.failures, made) or "STOPPED 0" not in said or not number(made, rate):
                    return {"problem": f"{mode}: {' / '.join(made.strip().splitlines()[-3:]) or said[-200:]}"}
                list_of.append((number(made, rate), number(made, middle), number(made, late), 1e6 * program_share(made) / number(made, rate)))
        medians = {mode: [statistics.median(values) if values[0] is not None else None for values in zip(*list_of)] for mode, list_of in figures.items()}
        rates = {mode: [figure[0] for figure in list_of] for mode, list_of in figures.items()}
        changes = {f"{mode}_change": measure.over(rates["plain"], rates[mode]) - 1 for mode in ("recorded", "profiled")}
        return {**medians, **changes}


def table(rows: list[tuple[str, dict]]) -> str:
    out = ["## Servers\n\nOn one processor, all of which the load takes, from another; medians of runs in turns, and of the changes within a turn. With a profile: of such a load. Program: its own time for a request, rather than the kernel's.\n",
           "| server | requests a second, plain | recorded | change | with a profile | change | median latency, ms | 99th percentile, ms | program, µs |\n|---|---|---|---|---|---|---|---|---|"]
    for name, value in rows:
        if "problem" in value:
            out.append(f"| {name} | not measured: {value['problem']} | | | | | | | |")
            continue
        plain, recorded, profiled = value["plain"], value["recorded"], value["profiled"]

        def all_of(index: int, figures=(plain, recorded, profiled)) -> str:
            return ", ".join(f"{figure[index]:.3g}" for figure in figures) if all(figure[index] is not None for figure in figures) else "-"

        changed = {mode: f"{value[mode][0]:,.0f} | {100 * value[f'{mode}_change']:+.1f} %" for mode in ("recorded", "profiled")}
        out.append(f"| {name} | {plain[0]:,.0f} | {changed['recorded']} | {changed['profiled']} | {all_of(1)} | {all_of(2)} | {all_of(3)} |")
    return "\n".join(out) + "\n"
