"""Runs of a command: processor time, peak memory, and what it says."""

import contextlib
import dataclasses
import hashlib
import os
import pathlib
import resource
import statistics
import subprocess
import time
from collections.abc import Iterable

LIMIT = 900  # seconds


@dataclasses.dataclass
class Run:
    seconds: float  # of processor time, of it and its children
    status: int
    said: str  # a hash of what it said and wrote


def environment(state: pathlib.Path, rings: pathlib.Path) -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/games", "LC_ALL": "C.UTF-8", "HOME": str(state), "OMP_NUM_THREADS": "1",
            "XDG_CACHE_HOME": str(state / "cache"), "XDG_STATE_HOME": str(state / "snaps"), "XDG_DATA_HOME": str(state / "data"), "XDG_RUNTIME_DIR": str(rings), "PYTHONDONTWRITEBYTECODE": "1"}


def timed(command: list[str], folder: pathlib.Path, env: dict[str, str], reads: str = "", result: str = "", lines: str = "") -> Run:
    with open(folder / reads if reads else os.devnull, "rb") as source, open(folder / "said", "wb") as out:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        status = subprocess.run(command, cwd=folder, env=env, stdin=source, stdout=out, stderr=subprocess.STDOUT if lines else subprocess.DEVNULL, timeout=LIMIT, check=False).returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = hashlib.sha256(b"".join(line for line in (folder / "said").read_bytes().splitlines(keepends=True) if lines.encode() in line))
    if result:
        # Comments tell the time.
        said.update(b"\n".join(line for line in (folder / result).read_bytes().split(b"\n") if not line.startswith(b"#")))
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(used, status, said.hexdigest())


def over(plain: Iterable[float], other: Iterable[float]) -> float:
    """Of what was measured in turns: the median of the ratios within a turn, for a machine's speed changes over minutes."""
    return statistics.median(one / base for one, base in zip(other, plain))


def forget(files: Iterable[pathlib.Path]) -> None:
    """Out of the page cache: of a file that was just written the kernel maps more around each page that is touched than of one that was read as needed."""
    for file in files:
        with open(file, "rb") as opened:
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def ring_bytes(folder: str, pid: int) -> int:
    """Of one process, for others may have left theirs; as far as they take memory, for there are spare ones."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names if os.path.basename(path).startswith(f"{pid}-") else ():
            with contextlib.suppress(FileNotFoundError):  # they come and go
                total += 512 * os.stat(os.path.join(path, name)).st_blocks if name.endswith(".ring") else 0
    return total


def peak_megabytes(command: list[str], folder: pathlib.Path, env: dict[str, str], reads: str = "") -> tuple[float, float]:
    """Of its last address space, as the kernel tells every few milliseconds: getrusage() would count whoever executed it, too. And the most that rings had then."""
    peak = rings = 0
    with open(folder / reads if reads else os.devnull, "rb") as source:
        process = subprocess.Popen(command, cwd=folder, env=env, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
        peak = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), peak)
        rings = max(rings, ring_bytes(env["XDG_RUNTIME_DIR"], process.pid))
        time.sleep(0.003)
    return peak / 1024, rings / 1024 / 1024
