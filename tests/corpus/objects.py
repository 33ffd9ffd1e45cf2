"""The ELF files that jobs consist of: observed, instrumented, and counted."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import threading

import maps

MINUTES = 60
HERE = pathlib.Path(__file__).parent
# Where the build under test is shown to copies (bound.py): processes may change their user, and to others than who runs this
# the project's folder may be closed. Every system has it, and nothing under test looks there.
SHOWN = "/mnt"
RUNTIME = f"{SHOWN}/lib/libtraceback.so"
# The C library and the dynamic linker stay as they are by default.
LEFT_OUT = re.compile(r"/(ld-linux-x86-64\.so\.2|lib(c|pthread|dl|rt|traceback|traceback-audit)\.so[.0-9]*)$")


def is_elf(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def is_program(path: str) -> bool:
    """Whether it names a dynamic linker or is linked to a fixed place; libraries that can be run too (libc) count as libraries."""
    with open(path, "rb") as file:
        head = file.read(64)
        kind, = struct.unpack_from("<H", head, 16)
        table, = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(table)
        kinds = {struct.unpack_from("<I", file.read(size))[0] for _ in range(count)}
    return ".so" not in os.path.basename(path) and (3 in kinds or kind == 2)


def observer(folder: pathlib.Path) -> pathlib.Path:
    """Compiles observe.c."""
    library = folder / "observe.so"
    if not library.exists():
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, HERE / "observe.c"], check=True)
    return library


def packages_by_file() -> dict[str, str]:
    """Which Debian package each program and library belongs to."""
    owners = {}
    for file in pathlib.Path("/var/lib/dpkg/info").glob("*.list"):
        package = file.stem.split(":")[0]
        for line in file.read_text().splitlines():
            if "bin/" in line or "/lib" in line or "games/" in line:
                owners[line if line.startswith("/usr") else "/usr" + line] = package
    return owners


class Objects:
    """Instrumented copies of observed files, kept by content and by mode in `state`; `traceback` is the program.
    Those of other builds are removed, for they are large."""

    def __init__(self, traceback: pathlib.Path, state: pathlib.Path, build: str):
        self.traceback = traceback
        self.folder = state / "objects" / build
        for other in self.folder.parent.glob("*"):
            if other != self.folder:
                shutil.rmtree(other, ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()
        self.busy: dict[tuple[str, str], threading.Lock] = {}
        self.hashes: dict[str, str] = {}

    def hash_of(self, path: str) -> str:
        if path not in self.hashes:
            self.hashes[path] = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:16]
        return self.hashes[path]

    def write(self, path: str, out: pathlib.Path, mode: str, options: tuple[str, ...] = ()) -> dict:
        """Instruments it; what was said of that. `status` is 0 if there is a copy now, 1 if the file was left alone."""
        if mode == "profile":  # one that means nothing
            said = self.write(path, out, "probes", options)
            text = maps.profile_at_random(out, int(self.hash_of(path), 16)) if said["status"] == 0 else ""
            if not text:
                return said
            profile = out.with_name(out.name + ".tbprofile")
            profile.write_text(text)
            options = (*options, "--profile", str(profile))
        flags = {"null": ["--null"], "poison": ["--poison"]}.get(mode, [])
        ran = subprocess.run([self.traceback, "instrument", path, "-o", out, "--report", "json", "--runtime", RUNTIME, *flags, *options], check=False,
                             capture_output=True, timeout=15 * MINUTES, start_new_session=True)
        lines = ran.stderr.decode(errors="replace").strip().splitlines()
        if ran.returncode not in (0, 1):
            out.unlink(missing_ok=True)
            raise RuntimeError(f"traceback instrument {path}: exit status {ran.returncode}: {lines[-1:]}")
        try:
            said = json.loads(ran.stdout)
            said = said[0] if isinstance(said, list) else said
        except ValueError:
            said = {}
        return {**said, "status": ran.returncode, "message": lines[-1] if lines else "", "original": path}

    def copy(self, path: str, mode: str) -> tuple[pathlib.Path | None, dict]:
        """The instrumented copy, or None if the file was left alone, and the report on it."""
        with self.lock:
            mine = self.busy.setdefault((path, mode), threading.Lock())
        with mine:
            out = self.folder / mode / f"{self.hash_of(path)}-{os.path.basename(path)}"
            report = out.with_name(out.name + ".json")
            if not report.exists():
                out.parent.mkdir(parents=True, exist_ok=True)
                said = self.write(path, out, mode)
                beside = report.with_suffix(".new")
                beside.write_text(json.dumps(said))
                beside.rename(report)
            said = json.loads(report.read_text())
            return (out if said["status"] == 0 else None), said

    def written(self) -> list[tuple[str, str, pathlib.Path]]:
        """Mode, original and copy of all files that have been written."""
        found = []
        for report in sorted(self.folder.glob("*/*.json")):
            said = json.loads(report.read_text())
            if said["status"] == 0:
                found.append((report.parent.name, said["original"], report.with_suffix("")))
        return found
