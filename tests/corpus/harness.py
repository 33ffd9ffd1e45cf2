"""Runs jobs (short.py) plain and through TraceBack, and says in what they differ."""

import dataclasses
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import data
from short import Job, scripts

MODES = ("null", "probes")
MINUTES = 60


@dataclasses.dataclass
class Outcome:
    status: int
    out: bytes
    err: bytes
    files: dict[str, str]

    def difference(self, other: "Outcome") -> str | None:
        """In what `other` differs from this; None if in nothing."""
        if self.status != other.status:
            return f"exit status {other.status}, not {self.status}; standard error: {tail(other.err)}"
        for name in ("out", "err"):
            mine, others = getattr(self, name), getattr(other, name)
            if mine != others:
                at = next((i for i, (a, b) in enumerate(zip(mine, others)) if a != b), min(len(mine), len(others)))
                return f"std{name} differs from byte {at} on: {others[at:at + 80]!r}, not {mine[at:at + 80]!r}"
        if self.files != other.files:
            names = sorted(n for n in self.files.keys() | other.files.keys() if self.files.get(n) != other.files.get(n))
            return f"files differ: {', '.join(names)}"
        return None


def tail(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "(empty)"


class Harness:
    """`programs` is a build folder, with bin/traceback; `state` keeps inputs, instrumented libraries and the cache."""

    def __init__(self, programs: pathlib.Path, state: pathlib.Path, scale: int, amount: dict[str, int]):
        self.traceback = programs.resolve() / "bin" / "traceback"
        self.state = state.resolve()
        self.amount = amount
        self.left_alone: dict[str, str] = {}  # libraries that the instrumentor refused, and why
        self.inputs = self.state / f"inputs-{scale}"
        if not (self.inputs / "empty").exists():
            data.write_all(self.inputs, scale)
        self.rings = tempfile.TemporaryDirectory(prefix="traceback-corpus-", dir="/dev/shm")
        self.work = tempfile.TemporaryDirectory(prefix="traceback-corpus-")

    def close(self) -> None:
        self.rings.cleanup()
        self.work.cleanup()

    def environment(self, folder: pathlib.Path) -> dict[str, str]:
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC", "HOME": str(folder),
            "XDG_CACHE_HOME": str(self.state / "cache"), "XDG_STATE_HOME": str(self.state / "snaps"), "XDG_DATA_HOME": str(self.state / "data"),
            "XDG_RUNTIME_DIR": self.rings.name, "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": "1",
        }

    def instrumented_libraries(self, job: Job, mode: str) -> str | None:
        """The folder with the job's libraries, instrumented."""
        if not job.libraries:
            return None
        folder = self.state / f"libraries-{mode}-{hash_of(self.traceback)}"
        folder.mkdir(parents=True, exist_ok=True)
        for name in job.libraries:
            if (folder / name).exists():
                continue
            source = pathlib.Path("/usr/lib/x86_64-linux-gnu") / name
            command = [self.traceback, "instrument", source.resolve(), "-o", folder / name, *(["--null"] if mode == "null" else [])]
            ran = subprocess.run(command, check=False, capture_output=True, timeout=10 * MINUTES)
            if ran.returncode != 0:
                self.left_alone[name] = tail(ran.stderr)
        return str(folder)

    def prepared(self, job: Job) -> pathlib.Path:
        """A fresh folder with what the job reads. Always at the same path, for paths get into outputs."""
        folder = pathlib.Path(self.work.name) / "job"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.inputs, folder)
        for name, text in scripts(self.amount).items():
            (folder / name).write_text(text)
        for command in job.prepare:
            subprocess.run(command, cwd=folder, env=self.environment(folder), check=True, capture_output=True)
        for path in folder.rglob("*"):
            os.utime(path, (0, 0))
        return folder

    def run(self, job: Job, mode: str) -> Outcome:
        """`mode` is plain, null or probes."""
        folder = self.prepared(job)
        environment = self.environment(folder)
        words = [job.program, *(argument.replace("{n}", str(self.amount["n"])) for argument in job.arguments)]
        if mode != "plain":
            libraries = self.instrumented_libraries(job, mode)
            if libraries:
                environment["LD_LIBRARY_PATH"] = libraries
            words = [str(self.traceback), "run", *(["--null"] if mode == "null" else []), "--", *words]
        with open(folder / job.input if job.input else os.devnull, "rb") as source:
            try:
                ran = subprocess.run(words, cwd=folder, env=environment, stdin=source, capture_output=True, timeout=10 * MINUTES,
                                     check=False, restore_signals=True)
            except subprocess.TimeoutExpired as expired:
                ran = subprocess.CompletedProcess(words, -signal.SIGALRM, expired.stdout or b"", b"timed out")
        files = {str(path.relative_to(folder)): hash_of(path) for path in sorted(folder.rglob("*")) if path.is_file()}
        return Outcome(ran.returncode, ran.stdout, ran.stderr, files)


def hash_of(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
