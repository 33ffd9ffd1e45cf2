"""What is known of jobs, suites, servers and programs, kept in a file: a run goes on where the last one was stopped."""

import fcntl
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading


class State:
    """`build` is what is under test, and `commit` what it was built from."""

    def __init__(self, file: pathlib.Path, build: str, commit: str):
        self.file, self.build, self.commit, self.lock = file, build, commit, threading.Lock()
        self.all: dict[str, dict[str, dict]] = json.loads(file.read_text()) if file.exists() else {}

    def of(self, kind: str, name: str, text: str) -> dict:
        """What is known of one of them; results in `modes` count for one build, the others for one text of it."""
        text = hashlib.sha256(text.encode()).hexdigest()[:16]
        with self.lock:
            known = self.all.setdefault(kind, {}).setdefault(name, {})
            if known.get("text") != text:
                known.clear()
                known.update(text=text)
            if known.get("build") != self.build:
                known.update(build=self.build, modes={})
        return known

    def note(self, known: dict, mode: str, why: str, **more) -> None:
        """That it was run in a mode: `why` it failed, or "" if it did not."""
        with self.lock:
            known["modes"] = {**known["modes"], mode: {"why": why, "commit": self.commit, **more}}
        self.save()

    def results(self) -> list[dict]:
        """Of this build, in whatever mode."""
        return [result for kind in self.all.values() for known in kind.values() if known.get("build") == self.build
                for result in known["modes"].values()]

    def save(self) -> None:
        with self.lock:
            beside = self.file.with_suffix(".new")
            beside.write_text(json.dumps(self.all, indent=1))
            os.replace(beside, self.file)


def end_when_told() -> None:
    """Asked to end, a run ends as by ^C, which need not be heeded in the background: nothing stays behind."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def alone_in(folder: pathlib.Path):
    """Makes the folder where a run keeps its state this run's own, for as long as what is returned lives: two would spoil each other's
    files. A run that was killed holds nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    held = (folder / "held").open("a+")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"check: another run is at work in {folder}: wait until it has ended, or stop it")
    return held


def build_of(programs: pathlib.Path) -> str:
    """What decides results: the programs' contents. A commit that changes none of them keeps what is known."""
    files = (programs / "bin" / "traceback", programs / "lib" / "libtraceback.so", programs / "lib" / "libtraceback-audit.so")
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()[:12]


def commit_of(folder: pathlib.Path) -> str:
    """The commit that is checked out there, and whether files differ from it."""
    said = subprocess.run(["git", "describe", "--always", "--dirty=, with changes", "--abbrev=12", "--exclude=*"], cwd=folder, check=False,
                          capture_output=True, text=True)
    return said.stdout.strip() or "unknown"
