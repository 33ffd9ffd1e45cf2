"""Servers under load, a snap of each of their processes every minute: no request fails, nothing grows, each snap opens cleanly."""

import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import watch
from scenario import Place, Soak, snapped

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "corpus"))
import servers  # noqa: E402
from processes import kill_group  # noqa: E402

LOADED, MINUTE = 45.0, 60.0  # seconds of each minute that the load lasts: the rest is for a look at rest


@dataclasses.dataclass(frozen=True)
class Load:
    """Shell text that keeps the server busy for `seconds`, without anything that grows for good in it; how its requests are counted and
    their failures known."""
    text: str
    requests: str
    failures: str


LOADS = {
    "nginx": Load("wrk -t1 -c20 -d{half}s --timeout 30s http://127.0.0.1:18081/page; wrk -t1 -c20 -d{half}s --timeout 30s -H 'Accept-Encoding: gzip' http://127.0.0.1:18081/page",
                  r"(\d+) requests in", r"Socket errors|Non-2xx|unable|refused"),
    "redis": Load("end=$(($(date +%s) + {seconds})); while [ $(date +%s) -lt $end ]; do redis-benchmark -p 16379 -n 20000 -r 10000 -c 20 -t set,get,incr,lpush,rpop,sadd,hset,zadd,mset --csv | "
                  "sed 's/^\"[A-Z]/20000 requests &/'; [ $(redis-cli -p 16379 llen mylist) = 0 ] || echo error: the list is not empty; done",
                  r"(\d+) requests", r"(?i:error|refused)"),
}


class Server:
    """One that was started by `traceback run`, with all of its processes."""

    def __init__(self, soak: Soak, name: str):
        self.soak, self.name, self.load = soak, name, LOADS[name]
        self.place = Place(soak, name)
        self.server = next(each for each in servers.SERVERS if each.name == name)
        self.folder = self.place.top / "server"
        self.folder.mkdir(mode=0o755)
        script = self.place.top / "script"
        script.write_text(f'run() {{ {soak.traceback} run --quiet --snap-dir {self.place.snaps} -- "$@"; }}\n{servers.WAIT}{self.server.start}\n'
                          f"echo STARTED\nread line\n{self.server.stop}\necho STOPPED $?\n")
        self.out = self.place.top / "out"
        with open(self.out, "wb") as out:
            self.process = subprocess.Popen(["bash", "--norc", script], cwd=self.folder, env=self.place.environment(), stdin=subprocess.PIPE, stdout=out,
                                            stderr=subprocess.STDOUT, start_new_session=True)
        self.loading: subprocess.Popen | None = None
        self.closing = threading.Lock()
        soak.running.append(self)
        if soak.stopped.is_set():  # which may have been between the start and its being told of
            self.close()

    def started(self) -> bool:
        while self.process.poll() is None:
            text = self.out.read_text(errors="replace")
            if "STARTED" in text:
                return "never answered" not in text
            time.sleep(0.2)
        return False

    def recorded(self) -> list[int]:
        return [pid for pid in watch.family(self.process.pid) if watch.is_recorded(pid)]

    def loaded(self, seconds: float) -> tuple[int, str]:
        """The requests that were answered, and what tells of those that were not."""
        text = self.load.text.format(seconds=int(seconds), half=max(1, int(seconds / 2)))
        self.loading = subprocess.Popen(["bash", "--norc", "-c", text], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                        start_new_session=True)
        out, err = self.loading.communicate()
        self.loading = None
        failed = re.search(f".*(?:{self.load.failures}).*", out + err)
        return sum(int(number) for number in re.findall(self.load.requests, out)), failed[0] if failed else ""

    def stopped(self) -> bool:
        self.process.stdin.write(b"\n")
        self.process.stdin.close()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            return False
        return "STOPPED 0" in self.out.read_text(errors="replace")

    def close(self) -> None:
        """Once: of two threads that ask for it, the second waits until the first has done it."""
        with self.closing:
            if self not in self.soak.running:
                return
            for process in filter(None, (self.loading, self.process)):
                kill_group(process)
            self.process.wait()
            self.place.__exit__()
            self.soak.running.remove(self)


def minute(server: Server, known: dict, snaps: pathlib.Path) -> None:
    """Load, a snap of each process in its middle, and a look at rest."""
    began = time.monotonic()
    answer: list[tuple[int, str]] = []
    load = threading.Thread(target=lambda: answer.append(server.loaded(LOADED)))
    load.start()
    time.sleep(LOADED / 3)
    for pid in server.recorded():
        tids = {int(path.name) for path in pathlib.Path(f"/proc/{pid}/task").iterdir()}
        snap = snapped(server.place, pid)
        known["snaps"] += 1
        known["lines"] += snap.lines
        if lost := tids - snap.threads.keys():
            known["threads without a trace"] = max(known["threads without a trace"], len(lost))
        if snap.problems:
            known["problems"] += [f"{snap.path.name}: {problem}" for problem in snap.problems]
            shutil.copy(snap.path, snaps) if snap.path.is_file() else None
        if snap.path.is_file():
            snap.path.unlink()
    load.join()
    requests, failed = answer[0]
    known["requests"] += requests
    if failed or requests == 0:
        known["problems"].append(f"a request failed: {failed or 'none was answered'}")
    time.sleep(2)
    known["samples"].append(watch.sample(server.recorded(), server.place.rings))
    known["minutes"] = round(known["minutes"] + (time.monotonic() - began) / 60, 2)
    time.sleep(max(0.0, MINUTE - (time.monotonic() - began)))


def left_behind(server: Server) -> list[str]:
    """Processes that gave up their rights cannot remove their rings themselves: `recover` does, and makes no snap of them."""
    time.sleep(1)
    recovered = server.place.traceback("recover", "--snap-dir", str(server.place.snaps))
    problems = [] if recovered.returncode == 0 else [f"recover ends with {recovered.returncode}: {recovered.stderr.strip()}"]
    if left := list(server.place.rings.rglob("*.ring")):
        problems.append(f"it has left rings behind: {', '.join(map(str, left[:5]))}")
    if snaps := list(server.place.snaps.glob("*.tbsnap")):
        problems.append(f"it has left snaps: {', '.join(path.name for path in snaps)}")
    return problems


def run(soak: Soak, name: str, save) -> dict:
    """`save` keeps what is known so far."""
    known = {"minutes": 0.0, "requests": 0, "snaps": 0, "lines": 0, "threads without a trace": 0, "samples": [], "problems": []}
    snaps = soak.state / "snaps"
    snaps.mkdir(exist_ok=True)
    server = Server(soak, name)
    try:
        if not server.started():
            known["problems"].append(f"it does not start: {server.out.read_text(errors='replace').strip()[-400:]}")
            return known
        pids = server.recorded()
        if not pids:
            known["problems"].append("none of its processes is recorded")
            return known
        while known["minutes"] < soak.minutes:
            minute(server, known, snaps)
            save(known)
            now = known["samples"][-1]
            soak.say(f"{name}: {known['minutes']:.0f} minutes, {known['requests']:,} requests, {known['snaps']} snaps, {now['resident KiB'] / 1024:.0f} MiB, "
                     f"{now['descriptors']} descriptors, {now['ring KiB'] / 1024:.0f} MiB of rings, {len(known['problems'])} problems")
        if server.recorded() != pids:
            known["problems"].append(f"its processes were {pids} and are {server.recorded()}")
        known["problems"] += watch.growth(known["samples"])
        if not server.stopped():
            known["problems"].append(f"it does not stop as it should: {server.out.read_text(errors='replace').strip()[-400:]}")
        known["problems"] += left_behind(server)
    finally:
        server.close()
    return known


def told(known: dict) -> str:
    """Markdown."""
    lost = known["threads without a trace"]
    text = (f"{known['minutes']:.0f} minutes of load, {known['requests']:,} requests; {known['snaps']} snaps with {known['lines']:,} lines in all"
            f"{f'; up to {lost} threads ran nothing that is recorded' if lost else ''}.\n\n")
    return text + (watch.table(known["samples"]) if known["samples"] else "")
