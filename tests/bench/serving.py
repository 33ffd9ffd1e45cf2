"""What recording costs servers: requests a second and how long one takes, under a load that keeps them busy, plain, recorded and by a profile beside each other."""

import dataclasses
import pathlib
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "corpus"))
import measure  # noqa: E402
import servers  # noqa: E402
from objects import LEFT_OUT, SHOWN, Objects  # noqa: E402
from runner import Runner  # noqa: E402
from standing import ON_PROCESSOR, Standing  # noqa: E402

KINDS = ("plain", "recorded", "profiled")
LOAD_ON = "taskset -c 1 "  # so that the server is what there is too little of
MILLISECONDS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


@dataclasses.dataclass(frozen=True)
class Load:
    server: str
    command: str
    rate: str  # where in what it prints that is; so of the others
    middle: str = ""  # the median latency
    late: str = ""  # the 99th percentile
    before: str = ""  # what is done where the server will stand


def wrk(server: str, what: str, before: str = "") -> Load:
    command = f"wrk -t1 -c20 -d{{seconds}}s --latency {what}"
    return Load(server, command, r"Requests/sec:\s+([\d.]+)", r" 50%\s+([\d.]+\w+)", r" 99%\s+([\d.]+\w+)", before)


PAGE = "http://127.0.0.1:{port}/page"  # 6 KB, and connections that stay
MIX = f"-s {HERE}/mix.lua http://127.0.0.1:{{port}}"
MIXED_FILES = """mkdir -p www/mix; yes "of no matter" | head -c 1000000 > mixed
for class in 1 2 3 4; do for file in 1 2 3 4 5 6 7 8 9; do head -c $((file * 10 ** (class + 1))) mixed > www/mix/$class-$file; done; done
"""
LOADS = {  # by the name of the row
    "apache2": wrk("apache2", PAGE),
    "apache2, mixed files": wrk("apache2", MIX, MIXED_FILES),
    "nginx": wrk("nginx", PAGE),
    "nginx, mixed files": wrk("nginx", MIX, MIXED_FILES),
    "redis": Load("redis", "redis-benchmark -p {port} -n {requests} -c 20 -t get --csv", r'"GET","([\d.]+)', r'"GET",(?:"[\d.]+",){3}"([\d.]+)', r'"GET",(?:"[\d.]+",){5}"([\d.]+)'),
    "memcached": Load("memcached", "memcaslap -s 127.0.0.1:{port} -T 1 -c 16 -t {seconds}s", r"TPS: (\d+)"),
    "postgresql": Load("postgresql", "/usr/lib/postgresql/17/bin/pgbench -U postgres -c4 -j1 -T{seconds} -S -h 127.0.0.1 -p {port} postgres", r"tps = ([\d.]+)", r"latency average = ([\d.]+) ms"),
}
# Of the plain one, as its script has it.
PORTS = {"apache2": 18080, "nginx": 18081, "redis": 16379, "memcached": 11311, "postgresql": 15432}
REQUESTS_A_SECOND = 60_000  # about what redis answers
STARTS = 3  # for each round: where a server's pages lie decides by several percent how fast it is
TURNS = 4  # within a start
WARM = 2  # seconds of load before, for until then servers start more of their threads and processes
TRAINING = 4  # seconds of the load of which the profile is
PROCESSES = "apache2 nginx redis-server memcached postgres"
# While the load goes on, of whatever is recorded.
SNAPS = """rm -rf snaps; mkdir snaps; ({load}) & load=$!; sleep 1
for i in 1 2 3; do for p in $(pidof {processes}); do {shown}/bin/traceback snap --memory none --snap-dir $PWD/snaps $p; done; sleep 0.3; done; wait $load"""


def number(text: str, pattern: str) -> float | None:
    """Of milliseconds, if a unit follows."""
    found = re.search(pattern, text) if pattern else None
    if not found:
        return None
    value, unit = re.fullmatch(r"([\d.]+)([a-z]*)", found[1]).groups()
    return float(value) * MILLISECONDS.get(unit, 1.0)


def processor_times() -> list[int]:
    """Of the server's processor: of programs, of nice ones, of the kernel, and so on."""
    line = next(line for line in pathlib.Path("/proc/stat").read_text().splitlines() if line.startswith("cpu0 "))
    return list(map(int, line.split()[1:9]))


def program_share(before: list[int], after: list[int]) -> float:
    """Of the processor's time between both, that of programs rather than the kernel's."""
    spent = [late - early for early, late in zip(before, after)]
    return (spent[0] + spent[1]) / max(1, sum(spent))


def in_turn(number: int) -> tuple[str, ...]:
    """The kinds, another of them first from start to start: who is started later finds other memory, and more that is in the caches."""
    first = number % len(KINDS)
    return KINDS[first:] + KINDS[:first]


def port_of(name: str, kind: str) -> int:
    return PORTS[name] + 100 * KINDS.index(kind)


def placed(server: servers.Server, kind: str) -> servers.Server:
    """The same on that kind's port."""
    own, other = str(PORTS[server.name]), str(port_of(server.name, kind))
    return dataclasses.replace(server, start=server.start.replace(own, other), stop=server.stop.replace(own, other))


def medians(figures: Iterable[Sequence]) -> list:
    """Of each figure; None of one that is never told."""
    return [statistics.median(values) if values[0] is not None else None for values in zip(*figures)]


def summary(starts: list[dict[str, list[tuple]]]) -> dict:
    """`starts`: for each, by kind, the figures of its turns. Medians, and the means of the starts' changes with their standard errors."""
    figures: dict = {}
    for kind in KINDS:
        figures[kind] = medians(medians(start[kind]) for start in starts)
    for kind in KINDS[1:]:
        changes = [measure.over([turn[0] for turn in start["plain"]], [turn[0] for turn in start[kind]]) - 1 for start in starts]
        figures[f"{kind}_change"] = statistics.fmean(changes)
        figures[f"{kind}_error"] = statistics.stdev(changes) / len(changes) ** 0.5 if len(changes) > 1 else None
    return figures


class Serving:
    def __init__(self, programs: pathlib.Path, state: pathlib.Path, build: str):
        self.traceback = programs.resolve() / "bin" / "traceback"
        objects = Objects(self.traceback, state, build)
        self.runners = {kind: Runner(objects, state, programs, "bound") for kind in KINDS}
        self.runner = self.runners["plain"]

    def close(self) -> None:
        for runner in self.runners.values():
            runner.close()

    def profile(self, server: servers.Server, lines: list[str]) -> pathlib.Path | str:
        """Of the recorded server under such a load; or what went wrong."""
        snapped = dataclasses.replace(server, load=SNAPS.format(load=server.load, processes=PROCESSES, shown=SHOWN))
        said, _ = servers.said_of(snapped, self.runner, "probes", lines, ON_PROCESSOR)
        snaps = sorted((self.runner.top / server.name / "snaps").glob("*.tbsnap"))
        profile = self.runner.top / f"{server.name}.tbprofile"
        made = subprocess.run([self.traceback, "profile", *snaps, "-o", profile], capture_output=True, text=True, check=False)
        return profile if made.returncode == 0 else f"{made.stderr.strip()} {said[-200:]}"

    def of(self, load: Load, rounds: int, seconds: int) -> dict:
        original = next(server for server in servers.SERVERS if server.name == load.server)
        original = dataclasses.replace(original, start=load.before + original.start)
        self.runner.listing("observed")
        fine, told = servers.once(original, self.runner, "observed", [])
        if not fine:
            return {"problem": f"plain: {told}"}
        paths = [path for path in self.runner.paths_observed() if not LEFT_OUT.search(path)]
        lines, _ = self.runner.bound(paths, "probes")
        profile = self.profile(dataclasses.replace(original, load=command_of(load, "plain", TRAINING)), lines)
        if isinstance(profile, str):
            return {"problem": f"profile: {profile}"}
        by_profile, _ = self.runner.bound(paths, "probes", {path: ("--profile", str(profile)) for path in paths})
        bound = {"plain": [], "recorded": lines, "profiled": by_profile}
        files = {*paths, *(line.split("\t")[0] for kind in KINDS for line in bound[kind])}
        starts = []
        for number in range(STARTS * rounds):
            measure.forget(map(pathlib.Path, files))  # so that they lie elsewhere
            try:
                starts.append(self.start(original, load, bound, seconds, in_turn(number)))
            except ValueError as failure:
                return {"problem": str(failure)}
        return summary(starts)

    def start(self, server: servers.Server, load: Load, bound: dict[str, list[str]], seconds: int, kinds: Sequence[str]) -> dict[str, list[tuple]]:
        """By kind, the figures of each turn; started and loaded in the order of `kinds`, and back."""
        turns: dict[str, list[tuple]] = {kind: [] for kind in KINDS}
        standing: dict[str, Standing] = {}
        try:
            for kind in kinds:
                standing[kind] = Standing(placed(server, kind), self.runners[kind], "probes" if bound[kind] else "plain", bound[kind])
            for kind in kinds:
                figures_of(server, load, kind, WARM)
            for turn in range(TURNS):
                for kind in kinds if turn % 2 == 0 else reversed(kinds):
                    turns[kind].append(figures_of(server, load, kind, seconds))
        finally:
            problems = [f"{kind}: {problem}" for kind, one in standing.items() if (problem := one.stop())]
        if problems:
            raise ValueError("; ".join(problems))
        return turns


def command_of(load: Load, kind: str, seconds: int) -> str:
    return LOAD_ON + load.command.format(port=port_of(load.server, kind), seconds=seconds, requests=seconds * REQUESTS_A_SECOND)


def figures_of(server: servers.Server, load: Load, kind: str, seconds: int) -> tuple:
    """Of a load: requests a second, median and 99th percentile of the latency, microseconds of the program's own for a request."""
    before = processor_times()
    made = subprocess.run(["bash", "-c", command_of(load, kind, seconds)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    share = program_share(before, processor_times())
    if re.search(server.failures, made) or not number(made, load.rate):
        raise ValueError(f"{kind}: {' / '.join(made.strip().splitlines()[-3:])}")
    return number(made, load.rate), number(made, load.middle), number(made, load.late), 1e6 * share / number(made, load.rate)


def table(rows: list[tuple[str, dict]]) -> str:
    out = ["## Servers\n\nOn one processor, all of which the load takes, from another; all three kinds stand beside each other, loaded in turns. Medians of several starts, the means of their "
           "changes, and these' standard errors. With a profile: of such a load. Program: its own time for a request, rather than the kernel's.\n",
           "| server | requests a second, plain | recorded | change | with a profile | change | median latency, ms | 99th percentile, ms | program, µs |\n|---|---|---|---|---|---|---|---|---|"]
    for name, value in rows:
        if "problem" in value:
            out.append(f"| {name} | not measured: {value['problem']} | | | | | | | |")
            continue
        plain, recorded, profiled = value["plain"], value["recorded"], value["profiled"]

        def all_of(index: int, figures=(plain, recorded, profiled)) -> str:
            return ", ".join(f"{figure[index]:.3g}" for figure in figures) if all(figure[index] is not None for figure in figures) else "-"

        def changed(kind: str, value=value) -> str:
            error = value[f"{kind}_error"]
            return f"{value[kind][0]:,.0f} | {100 * value[f'{kind}_change']:+.1f}{'' if error is None else f' ± {100 * error:.1f}'} %"

        out.append(f"| {name} | {plain[0]:,.0f} | {changed('recorded')} | {changed('profiled')} | {all_of(1)} | {all_of(2)} | {all_of(3)} |")
    return "\n".join(out) + "\n"
