"""The ELF files that jobs consist of: observed, instrumented, and counted."""

import hashlib
import json
import os
import pathlib
import re
import struct
import subprocess
import threading

MINUTES = 60
HERE = pathlib.Path(__file__).parent
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
    """Instrumented copies of observed files, kept by content and by mode in `state`; `traceback` is the program."""

    def __init__(self, traceback: pathlib.Path, state: pathlib.Path, build: str):
        self.traceback = traceback
        self.folder = state / "objects" / build
        self.folder.mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()
        self.busy: dict[tuple[str, str], threading.Lock] = {}
        self.hashes: dict[str, str] = {}

    def hash_of(self, path: str) -> str:
        if path not in self.hashes:
            self.hashes[path] = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:16]
        return self.hashes[path]

    def copy(self, path: str, mode: str, options: tuple[str, ...] = ()) -> tuple[pathlib.Path | None, dict]:
        """The instrumented copy, or None if the file was left alone, and the report on it."""
        with self.lock:
            mine = self.busy.setdefault((path, mode), threading.Lock())
        with mine:
            name = f"{self.hash_of(path)}-{os.path.basename(path)}"
            if options:
                name += "-" + hashlib.sha256(" ".join(options).encode()).hexdigest()[:8]
            out = self.folder / mode / name
            report = out.with_name(out.name + ".json")
            if not report.exists():
                out.parent.mkdir(parents=True, exist_ok=True)
                flags = {"null": ["--null"], "poison": ["--poison"]}.get(mode, [])
                ran = subprocess.run([self.traceback, "instrument", path, "-o", out, "--report", "json", *flags, *options], check=False,
                                     capture_output=True, timeout=15 * MINUTES)
                try:
                    said = json.loads(ran.stdout)
                    said = said[0] if isinstance(said, list) else said
                except ValueError:
                    said = {}
                lines = ran.stderr.decode(errors="replace").strip().splitlines()
                if ran.returncode not in (0, 1):
                    raise RuntimeError(f"{self.traceback} instrument {path}: {ran.stderr.decode(errors='replace')}")
                said["status"], said["message"] = ran.returncode, lines[-1] if lines else ""
                report.write_text(json.dumps(said))
            said = json.loads(report.read_text())
            return (out if said["status"] == 0 else None), said
