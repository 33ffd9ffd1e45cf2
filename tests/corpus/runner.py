"""Runs the jobs of jobs/ plain and through TraceBack, and says in what they differ."""

import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import data
from jobs import Script
from objects import LEFT_OUT, RUNTIME, SHOWN, Objects, is_elf, observer
from processes import kill_group

SECONDS_PLAIN = 60
PATIENCE = 4  # so many times longer may it take when it is repeated
HERE = pathlib.Path(__file__).parent
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games"
SAYING = re.compile(rb"^traceback: .*\n?", re.M)  # what `traceback run` says about itself


TROUBLE = (RuntimeError, OSError, subprocess.SubprocessError)  # with the instrumentor, or with room for what it writes


class Late(RuntimeError):
    """It did not end in time, which says more of the machine than of what was run."""


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


def goes_by_run(mode: str, way: str) -> bool:
    """Whether jobs are run by `traceback run` in that mode, rather than with copies bound over their files: in those that it knows."""
    return way == "run" and mode in ("null", "probes")


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
        self.observer = self.top / "observe.so"  # where other users reach it
        shutil.copy(observer(state), self.observer)
        self.trapper = self.top / "trap.so"
        self.listing("traps")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", f'-DCORPUS_TRAPS="{self.top}/traps"', "-o", self.trapper, HERE / "trap.c"], check=True)

    def close(self) -> None:
        shutil.rmtree(self.top, ignore_errors=True)
        shutil.rmtree(self.rings, ignore_errors=True)

    def environment(self, folder: pathlib.Path) -> dict[str, str]:
        return {
            "PATH": PATH, "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "HOME": str(folder), "TMPDIR": str(folder), "USER": "root",
            "SOURCE_DATE_EPOCH": "0", "PYTHONDONTWRITEBYTECODE": "1", "GIT_CONFIG_NOSYSTEM": "1", "XDG_CACHE_HOME": str(self.state / "cache"),
            "XDG_STATE_HOME": str(self.top / "snaps"), "XDG_DATA_HOME": str(self.top / "data"), "XDG_RUNTIME_DIR": str(self.rings), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
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
        if goes_by_run(mode, self.way):
            flag = "--null " if mode == "null" else ""
            # That there is no such program is the shell's to say, as it does plain.
            return f'run() {{ if type -P -- "$1" > /dev/null; then {self.programs}/bin/traceback run {flag}-- "$@"; else "$@"; fi; }}\n'
        settings = " ".join(f"{name}={value}" for name, value in self.variables(mode).items())
        return f'run() {{ {settings} "$@"; }}\n'

    def ended(self, process: subprocess.Popen, limit: float) -> int:
        """Its exit status. Whatever it has left behind in its group ends, too."""
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            raise Late(f"did not end within {limit:.0f} s (load {os.getloadavg()[0]:.1f})") from None
        finally:
            self.running = None
            kill_group(process)
            process.wait()
            if self.stopped:
                raise Stopped

    def stop(self) -> None:
        """Ends what runs, and whatever would run next."""
        self.stopped = True
        if (running := self.running) is not None:
            kill_group(running)

    def listing(self, name: str) -> pathlib.Path:
        """An empty file to which whatever user's processes append lines."""
        path = self.top / name
        path.write_text("")
        path.chmod(0o666)
        return path

    def lines_in(self, name: str) -> list[str]:
        return sorted(set((self.top / name).read_text(errors="surrogateescape").splitlines()))

    def paths_observed(self) -> list[str]:
        """The ELF files that processes observed since listing("observed") have loaded."""
        return sorted(path for path in {os.path.realpath(line) for line in self.lines_in("observed")} if is_elf(path))

    def trapped(self) -> list[tuple[str, int]]:
        """File and link-time address of the breakpoints in poisoned code that were met since this was asked before."""
        found = self.lines_in("traps")
        self.listing("traps")
        return [(os.path.realpath(path), int(address, 16)) for path, address in (line.rsplit(" ", 1) for line in found)]

    def traps(self) -> str:
        found = [f"{path} {address:#x}" for path, address in self.trapped()]
        return f" (breakpoints met: {', '.join(found)})" if found else ""

    def observed(self, job: Script) -> tuple[Outcome, list[str]]:
        """A plain run, and the ELF files that it used."""
        self.listing("observed")
        outcome = self.run(job, "observed")
        # Not what the job itself has made: that is plain data to it.
        return outcome, [path for path in self.paths_observed() if not path.startswith((str(self.top), str(self.state)))]

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
        return lines, alone

    def command(self, mode: str, lines: list[str], words: list[str | pathlib.Path]) -> list[str | pathlib.Path]:
        """Runs `words` where these lines of bound() hold, and what the copies need is in its place."""
        bound = list(lines)
        if bound:
            bound.append(f"{self.programs}\t{SHOWN}")
        if bound and mode == "poison":
            # Such copies do not ask whether the runtime is there, and need its thread-local room.
            preload = self.top / "ld.so.preload"
            preload.write_text(f"{RUNTIME} {self.trapper}\n")
            pathlib.Path("/etc/ld.so.preload").touch()
            bound.append(f"{preload}\t/etc/ld.so.preload")
        listing = self.top / "bound"
        listing.write_text("".join(line + "\n" for line in bound))
        return [sys.executable, HERE / "bound.py", listing, *words]

    def run(self, job: Script, mode: str, lines: list[str] | None = None, limit: float = SECONDS_PLAIN) -> Outcome:
        """`mode` is plain, observed, null, probes, poison or profile. What does not end in time is repeated with more of it."""
        try:
            return self.once(job, mode, lines, limit)
        except Late:
            return self.once(job, mode, lines, PATIENCE * limit)

    def once(self, job: Script, mode: str, lines: list[str] | None, limit: float) -> Outcome:
        folder = self.prepared()
        script = self.top / "script"
        script.write_text("enable -n echo printf test [ true false pwd kill\n" + self.function(mode) + job.text)
        words = self.command(mode, lines or [], ["bash", "--norc", script])
        began = time.monotonic()
        with open(self.top / "out", "wb") as out, open(self.top / "err", "wb") as err:
            process = self.running = subprocess.Popen(words, cwd=folder, env=self.environment(folder), stdin=subprocess.DEVNULL, stdout=out,
                                                      stderr=err, start_new_session=True)
            status = self.ended(process, limit)
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
