#!/usr/bin/env python3
"""The steps of ./check debian12, each in the root that `run` gives it. (Python 3.11: that is what Debian 12 has.)

originals   in Debian 12: builds the C++ program, copies programs and their libraries, notes what they say
instrument  where the project builds: instruments the copies
record      in Debian 12: runs these; some end by themselves, some crash or are killed
read        where the project builds: what was left is made into snaps and printed
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
TEXT = "".join(f"{i * 7919 % 10007} line {i}\n" for i in range(20000))
LEFT_OUT = re.compile(r"/(?:libc|libpthread|libdl|librt|libutil|ld-linux-x86-64)\.so")  # the C library stays as it is
RUNS = {  # name: program, arguments, whether TEXT is what it reads
    "gzip": ("gzip", ["-6nc"], True),
    "sort": ("sort", ["-n", "--parallel=4"], True),
    "perl": ("perl", ["-ne", "$n{$1}++ while /(\\d\\d)/g; END { print map { \"$_ $n{$_}\\n\" } sort keys %n }"], True),
    "python3": ("python3", ["-c", "import json, re, sys; print(json.dumps(sorted(re.findall(r'(\\d+) line', sys.stdin.read()))[:2000]))"], True),
    "throwing": ("throwing", [], False),
}
ENDS = {  # the same for those that do not end by themselves; the signal that ends them
    "perl killed": ("perl", ["-e", "$x = join(',', map { $_ ** 2 } 1 .. 5000); kill 9, $$"], signal.SIGKILL),
    "python3 killed": ("python3", ["-c", "import os; x = [str(i) for i in range(5000)]; os.kill(os.getpid(), 9)"], signal.SIGKILL),
    "throwing crashed": ("throwing", ["crash"], signal.SIGSEGV),
}
FAULT = "throwing.cpp"


class Steps:
    def __init__(self, folder: pathlib.Path, rings: pathlib.Path, programs: pathlib.Path):
        self.folder, self.rings, self.traceback = folder, rings, programs / "bin" / "traceback"
        self.wrong: list[str] = []

    def ran(self, command: list, text: bool, **variables: str) -> tuple[int, bytes]:
        ran = subprocess.run(command, input=TEXT.encode() if text else b"", capture_output=True, check=False, timeout=600,
                             env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONHOME": "/usr", **variables})
        return ran.returncode, ran.stdout

    def originals(self) -> None:
        version = os.confstr("CS_GNU_LIBC_VERSION")
        if version != "glibc 2.36":
            sys.exit(f"this is no Debian 12: {version}")
        bin_, lib = self.folder / "original" / "bin", self.folder / "original" / "lib"
        bin_.mkdir(parents=True)
        lib.mkdir()
        subprocess.run(["g++", "-O2", "-g", "-pthread", "-o", bin_ / "throwing", HERE / "throwing.cpp"], check=True)
        for name in {program for program, *_ in RUNS.values()}:
            if name != "throwing":
                shutil.copy(os.path.realpath(shutil.which(name)), bin_ / name)
            for path in re.findall(r"=> (/\S+)", subprocess.run(["ldd", bin_ / name], capture_output=True, text=True, check=True).stdout):
                if not LEFT_OUT.search(path):
                    shutil.copy(path, lib / pathlib.Path(path).name)
        said = {}
        for name, (program, arguments, text) in RUNS.items():
            status, out = self.ran([bin_ / program, *arguments], text)
            said[name] = [status, out.hex()]
        (self.folder / "plain.json").write_text(json.dumps(said))

    def instrument(self) -> None:
        for kind in ("bin", "lib"):
            (self.folder / "copies" / kind).mkdir(parents=True)
            for path in sorted((self.folder / "original" / kind).iterdir()):
                to = self.folder / "copies" / kind / path.name
                made = subprocess.run([self.traceback, "instrument", path, "-o", to, "--report", "json"], capture_output=True, text=True, check=False)
                if made.returncode != 0:
                    self.wrong.append(f"{path.name}: {made.stderr.strip()}")
                    continue
                report = json.loads(made.stdout)
                print(f"debian12: {path.name}: {report['instrumented']} of {report['functions']} functions instrumented")

    def variables(self) -> dict[str, str]:
        return {"XDG_RUNTIME_DIR": str(self.rings), "TRACEBACK_SNAP_DIR": str(self.folder / "snaps"), "LD_LIBRARY_PATH": str(self.folder / "copies" / "lib")}

    def record(self) -> None:
        plain = json.loads((self.folder / "plain.json").read_text())
        copies = self.folder / "copies" / "bin"
        for name, (program, arguments, text) in RUNS.items():
            status, out = self.ran([copies / program, *arguments], text, **self.variables())
            same = [status, out.hex()] == plain[name]
            print(f"debian12: {name}: {'the same' if same else f'DIFFERS, status {status}'}")
            if not same:
                self.wrong.append(f"{name}: status {status}, {len(out)} bytes")
        for name, (program, arguments, wanted) in ENDS.items():
            status, _ = self.ran([copies / program, *arguments], False, **self.variables())
            if status != -wanted:
                self.wrong.append(f"{name}: ends with {status}, not by signal {wanted}")
        self.killed_at_work(copies)
        left = list(self.rings.rglob("process"))
        print(f"debian12: {len(left)} processes left their rings")

    def killed_at_work(self, copies: pathlib.Path) -> None:
        """gzip and sort, while they read."""
        for program, arguments in (("gzip", ["-1c"]), ("sort", ["-n"])):
            before = set(self.rings.rglob("*.ring"))
            with open(os.devnull, "wb") as nowhere:
                process = subprocess.Popen([copies / program, *arguments], stdin=subprocess.PIPE, stdout=nowhere, env={"PATH": "/usr/bin:/bin", **self.variables()})
                process.stdin.write(TEXT.encode())
                process.stdin.flush()
                until = time.monotonic() + 60
                while set(self.rings.rglob("*.ring")) == before and time.monotonic() < until:
                    time.sleep(0.1)
                time.sleep(1)
                process.kill()
                process.wait()

    def read(self) -> None:
        snaps = self.folder / "snaps"
        recovered = subprocess.run([self.traceback, "recover", self.rings / "traceback", "--snap-dir", snaps], capture_output=True, text=True, check=False)
        if recovered.returncode != 0:
            self.wrong.append(f"recover: {recovered.stderr.strip()}")
        found = {}
        for snap in sorted(snaps.glob("*.tbsnap")):
            printed = subprocess.run([self.traceback, "print", snap, "--thread", "all", "--format", "json"], capture_output=True, text=True, check=False)
            lines = [json.loads(line) for line in printed.stdout.splitlines()]
            name = snap.name.split("-")[0]
            found[name] = found.get(name, 0) + 1
            print(f"debian12: {snap.name}: {len(lines)} entries of {len({line['thread'] for line in lines})} threads")
            if printed.returncode != 0 or printed.stderr.strip():
                self.wrong.append(f"{snap.name}: {printed.stderr.strip()}")
            if not any(line["kind"] == "call" for line in lines):
                self.wrong.append(f"{snap.name}: no call is in it")
            if name == "throwing":
                self.check_crash(snap, lines)
        for name in {program for program, *_ in RUNS.values()} - found.keys():
            self.wrong.append(f"{name}: left no snap")

    def check_crash(self, snap: pathlib.Path, lines: list[dict]) -> None:
        number = next(i for i, line in enumerate((HERE / FAULT).read_text().splitlines(), 1) if "// the fault" in line)
        text = subprocess.run([self.traceback, "print", snap, "--last", "12"], capture_output=True, text=True, check=False).stdout
        print(text)
        if f"{FAULT}:{number}" not in text or "SIGSEGV" not in text:
            self.wrong.append(f"{snap.name}: does not end at {FAULT}:{number}")
        if not any(line["kind"] == "exception" for line in lines):
            self.wrong.append(f"{snap.name}: no exception is in it")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("originals", "instrument", "record", "read"))
    for name in ("folder", "rings", "programs"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    options = parser.parse_args()
    steps = Steps(options.folder, options.rings, options.programs)
    getattr(steps, options.step)()
    for wrong in steps.wrong:
        print(f"debian12: FAILED: {wrong}")
    if options.step == "read" and not steps.wrong:
        print("debian12: passed")
    return 1 if steps.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
