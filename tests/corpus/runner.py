"""Runs the jobs of jobs/ plain and through TraceBack, and says in what they differ."""

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import data
from jobs import Script
from objects import LEFT_OUT, Objects, is_elf, observer

SECONDS_PLAIN = 60
HERE = pathlib.Path(__file__).parent
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games"
SAYING = re.compile(rb"^traceback: .*\n?", re.M)  # what `traceback run` says about itself


TROUBLE = (RuntimeError, OSError, subprocess.SubprocessError)  # with the instrumentor, or with room for what it writes


class Stopped(BaseException):
    """Somebody wants the run to end: what was just run means nothing."""


@dataclasses.dataclass
class Outcome:
    status: int
    out: bytes
    err: bytes
    files: dict[str, str]
    seconds: float = 0.0

    def difference(self, other: "Outcome") -> str | None:
        """In what `other` differs from this; None if in nothing."""
        for name in ("out", "err"):
            mine, others = getattr(self, name), getattr(other, name)
            if mine != others:
                at = next((i for i, (a, b) in enumerate(zip(mine, others)) if a != b), min(len(mine), len(others)))
                at = mine.rfind(b"\n", 0, at) + 1
                return f"std{name}: {others[at:at + 160]!r}, not {mine[at:at + 160]!r}"
        if self.status != other.status:
            return f"exit status {other.status}, not {self.status}"
        if self.files != other.files:
            names = sorted(n for n in self.files.keys() | other.files.keys() if self.files.get(n) != other.files.get(n))
            return f"files: {', '.join(names[:9])}"
        return None


class Runner:
    """One at a time: each has a folder of its own, which keeps its path, for paths get into outputs."""

    def __init__(self, objects: Objects, state: pathlib.Path, programs: pathlib.Path, way: str):
        self.objects, self.state, self.programs, self.way = objects, state, programs.resolve(), way
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="traceback-corpus-"))
        self.top.chmod(0o755)
        self.rings = pathlib.Path(tempfile.mkdtemp(prefix="traceback-corpus-", dir="/dev/shm"))
        self.inputs = state / "inputs"
        self.running: subprocess.Popen | None = None
        self.stopped = False
        self.observer = observer(state)
        self.trapper = self.top / "trap.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", f'-DCORPUS_TRAPS="{self.top}/traps"', "-o", self.trapper, HERE / "trap.c"], check=True)

    def close(self) -> None:
        shutil.rmtree(self.top, ignore_errors=True)
        shutil.rmtree(self.rings, ignore_errors=True)

    def environment(self, folder: pathlib.Path) -> dict[str, str]:
        return {
            "PATH": PATH, "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "HOME": str(folder), "TMPDIR": str(folder), "USER": "root",
            "SOURCE_DATE_EPOCH": "0", "PYTHONDONTWRITEBYTECODE": "1", "GIT_CONFIG_NOSYSTEM": "1", "XDG_CACHE_HOME": str(self.state / "cache"),
            "XDG_STATE_HOME": str(self.top / "snaps"), "XDG_RUNTIME_DIR": str(self.rings), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        }

    def prepared(self) -> pathlib.Path:
        folder = self.top / "job"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.inputs, folder)
        for path in (*folder.rglob("*"), folder):
            os.utime(path, (0, 0))
        return folder

    def variables(self, mode: str) -> dict[str, str]:
        """What the processes under test have in their environment besides."""
        if mode == "observed":
            # An audit library brings a second C library, whose thread-local storage may lack room beside that of jemalloc.
            return {"LD_AUDIT": str(self.observer), "CORPUS_OBSERVE": f"{self.top}/observed", "GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=16384"}
        return {}  # copies find the runtime by themselves

    def function(self, mode: str) -> str:
        """What `run` is to the job's shell."""
        if mode in ("null", "probes", "poison") and self.way == "run":
            flag = {"null": "--null", "poison": "--poison"}.get(mode, "")
            return f'run() {{ {self.programs}/bin/traceback run {flag} -- "$@"; }}\n'
        settings = " ".join(f"{name}={value}" for name, value in self.variables(mode).items())
        return f'run() {{ {settings} "$@"; }}\n'

    def end(self, process: subprocess.Popen) -> None:
        """And whatever it has left behind in its group."""
        self.running = None
        self.kill(process)
        process.wait()
        if self.stopped:
            raise Stopped

    def stop(self) -> None:
        """Ends what runs, and whatever would run next."""
        self.stopped = True
        if (running := self.running) is not None:
            self.kill(running)

    def kill(self, process: subprocess.Popen) -> None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def trapped(self) -> list[tuple[str, int]]:
        """File and link-time address of the breakpoints in poisoned code that were met since this was asked before."""
        listing = self.top / "traps"
        found = sorted(set(listing.read_text().splitlines())) if listing.exists() else []
        listing.unlink(missing_ok=True)
        return [(os.path.realpath(path), int(address, 16)) for path, address in (line.rsplit(" ", 1) for line in found)]

    def traps(self) -> str:
        found = [f"{path} {address:#x}" for path, address in self.trapped()]
        return f" (breakpoints met: {', '.join(found)})" if found else ""

    def observed(self, job: Script) -> tuple[Outcome, list[str]]:
        """A plain run, and the ELF files that it used."""
        listing = self.top / "observed"
        listing.unlink(missing_ok=True)
        outcome = self.run(job, "observed")
        paths = {os.path.realpath(line) for line in listing.read_text().splitlines()} if listing.exists() else set()
        # Not what the job itself has made: that is plain data to it.
        return outcome, sorted(p for p in paths if not p.startswith((str(self.top), str(self.state))) and is_elf(p))

    def bound(self, used: list[str], mode: str, choice: dict[str, tuple[str, ...]] | None = None) -> tuple[list[str], list[str]]:
        """The lines for bound.py, and the files left alone. `choice`: only these files, each with further options."""
        lines, alone = [], []
        for path in used:
            if LEFT_OUT.search(path) or (choice is not None and path not in choice):
                continue
            if choice and choice[path]:
                copy = self.top / "narrowed" / os.path.basename(path)
                copy.parent.mkdir(exist_ok=True)
                copy.unlink(missing_ok=True)
                if self.objects.write(path, copy, mode, choice[path])["status"] != 0:
                    copy = None
            else:
                copy, _ = self.objects.copy(path, mode)
            if copy is None:
                alone.append(path)
            else:
                lines.append(f"{copy}\t{path}")
        if mode == "poison" and lines:
            # Such copies do not ask whether the runtime is there, and need its thread-local room.
            preload = self.top / "ld.so.preload"
            preload.write_text(f"{self.programs}/lib/libtraceback.so {self.trapper}\n")
            pathlib.Path("/etc/ld.so.preload").touch()
            lines.append(f"{preload}\t/etc/ld.so.preload")
        return lines, alone

    def run(self, job: Script, mode: str, lines: list[str] | None = None, limit: float = SECONDS_PLAIN) -> Outcome:
        """`mode` is plain, observed, null, probes or poison."""
        folder = self.prepared()
        script = self.top / "script"
        script.write_text("enable -n echo printf test [ true false pwd kill\n" + self.function(mode) + job.text)
        listing = self.top / "bound"
        listing.write_text("".join(line + "\n" for line in lines or []))
        words = [sys.executable, str(HERE / "bound.py"), str(listing), "bash", "--norc", str(script)]
        began = time.monotonic()
        with open(self.top / "out", "wb") as out, open(self.top / "err", "wb") as err:
            process = self.running = subprocess.Popen(words, cwd=folder, env=self.environment(folder), stdin=subprocess.DEVNULL, stdout=out,
                                                      stderr=err, start_new_session=True)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = -signal.SIGALRM
        self.end(process)
        said = [SAYING.sub(b"", (self.top / name).read_bytes()) for name in ("out", "err")]
        return Outcome(status, said[0], said[1], contents(folder), time.monotonic() - began)


def contents(folder: pathlib.Path) -> dict[str, str]:
    files = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            files[name] = "-> " + os.readlink(path)
        elif path.is_file():
            files[name] = f"{path.stat().st_mode & 0o7777:o} " + hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return files


def make_inputs(state: pathlib.Path) -> None:
    import short
    folder = state / "inputs"
    if (folder / "empty").exists():
        return
    data.write_all(folder, 2)
    amount = {"n": 16, "sql": 2, "bc": 60}
    named = {"lua": "work.lua", "sql": "work.sql", "awk": "work.awk", "py": "work.py", "bc": "work.bc", "makefile": "makefile"}
    for name, text in short.scripts(amount).items():
        if name in named:
            (folder / named[name]).write_text(text)
    (folder / "work.pl").write_text(short.PERL_WORK)
