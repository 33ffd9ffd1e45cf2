"""What the scenarios share: the programs under test, a folder and an environment for what runs, and the check that a snap opens cleanly."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading


@dataclasses.dataclass
class Soak:
    programs: pathlib.Path
    state: pathlib.Path
    minutes: float
    again: bool
    tests: str  # regular expression: of these names
    running: list = dataclasses.field(default_factory=list)  # what a thread has started; each has a close()
    stopped: threading.Event = dataclasses.field(default_factory=threading.Event)

    @property
    def traceback(self) -> pathlib.Path:
        return self.programs / "bin" / "traceback"

    def say(self, text: str) -> None:
        print(f"soak: {text}", flush=True)

    def stop(self) -> None:
        """What runs in other threads than the caller's ends, and what they then say of it does not count."""
        self.stopped.set()
        for each in list(self.running):
            each.close()


class Place:
    """Folders of one run: for work, where other users may look, and for rings, in memory. Gone when it ends."""

    def __init__(self, soak: Soak, name: str):
        self.soak = soak
        self.top = pathlib.Path(tempfile.mkdtemp(prefix=f"traceback-soak-{name}-"))
        self.top.chmod(0o755)
        self.rings = pathlib.Path(tempfile.mkdtemp(prefix=f"traceback-soak-{name}-", dir="/dev/shm"))
        self.snaps = self.top / "snaps"
        self.snaps.mkdir()

    def __enter__(self) -> "Place":
        return self

    def __exit__(self, *_) -> None:
        shutil.rmtree(self.top, ignore_errors=True)
        shutil.rmtree(self.rings, ignore_errors=True)

    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LC_ALL", "HOME") if name in os.environ}
        return {**kept, "XDG_RUNTIME_DIR": str(self.rings), "XDG_CACHE_HOME": str(self.soak.state / "cache"), "XDG_STATE_HOME": str(self.top), "XDG_DATA_HOME": str(self.top / "data")}

    def traceback(self, *arguments: str, limit: float = 600) -> subprocess.CompletedProcess:
        return subprocess.run([self.soak.traceback, *arguments], env=self.environment(), capture_output=True, text=True, errors="replace",
                              check=False, timeout=limit)


@dataclasses.dataclass
class Snap:
    path: pathlib.Path
    problems: list[str]  # why it does not open cleanly; empty if it does
    threads: dict[int, str]  # tid: name, of those that had not ended
    lines: int
    matches: int = 0


THREAD = re.compile(r"^thread +\S+  (.*) \(tid (\d+)\): (\d+) entries from (\d+) records(.*)$")


def opened(place: Place, path: pathlib.Path, wanted: tuple[bytes, ...] = ()) -> Snap:
    """Reads all of it as a user would: `info`, and every entry of every thread by `print`; counts those with all of these texts."""
    snap = Snap(path, [], {}, 0)
    info = place.traceback("info", str(path))
    if info.returncode != 0:
        snap.problems.append(f"info ends with {info.returncode}: {info.stderr.strip()}")
    for line in info.stdout.splitlines():
        if line.startswith("damage"):
            snap.problems.append(line)
        if (thread := THREAD.match(line)) and ", ended" not in thread[5]:
            snap.threads[int(thread[2])] = thread[1]
    printed = subprocess.Popen([place.soak.traceback, "print", path, "--thread", "all", "--format", "json"], env=place.environment(),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for line in printed.stdout:
        snap.lines += 1
        snap.matches += bool(wanted) and all(text in line for text in wanted)
    said = printed.stderr.read().decode(errors="replace").strip()
    if printed.wait() != 0 or said:
        snap.problems.append(f"print ends with {printed.returncode}: {said}")
    if snap.lines == 0:
        snap.problems.append("print has no line")
    return snap


def snapped(place: Place, pid: int, wanted: tuple[bytes, ...] = ()) -> Snap:
    """Of a living process, which goes on."""
    made = place.traceback("snap", str(pid), "--snap-dir", str(place.snaps))
    if made.returncode != 0:
        return Snap(place.snaps, [f"snap ends with {made.returncode}: {made.stderr.strip()}"], {}, 0)
    return opened(place, pathlib.Path(made.stdout.strip()), wanted)
