"""How fast programs are instrumented."""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from programs import path_of

PROGRAMS = ["gzip", "zstd", "sqlite3", "gawk", "perl", "git", "gdb", "cc1"]


def code_size(program: str) -> int:
    lines = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout.splitlines()
    return sum(int(line.split("]")[1].split()[4], 16) for line in lines if "PROGBITS" in line and " AX " in line)


def measured(traceback: pathlib.Path, program: str) -> dict | None:
    path = path_of(program)
    if path is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        times = []
        for _ in range(3):
            start = time.monotonic()
            ran = subprocess.run([traceback, "instrument", os.path.realpath(path), "--output-dir", folder, "--report", "json"],
                                 capture_output=True, text=True, check=False)
            times.append(time.monotonic() - start)
            if ran.returncode != 0:
                return {"problem": ran.stderr.strip()}
        report = json.loads(ran.stdout)
    return {"code": code_size(path), "seconds": statistics.median(times), "functions": report["functions"],
            "instrumented": report["instrumented"], "bytes": report["text_bytes"], "new_bytes": report["new_text_bytes"], "table_bytes": report["table_bytes"]}


def table(rows: list[tuple[str, dict]]) -> str:
    out = ["## Instrumenting\n\n| program | code, MB | s | MB/s | functions | instrumented | growth of their code (tables) |\n|---|---|---|---|---|---|---|"]
    for name, value in rows:
        if "problem" in value:
            out.append(f"| {name} | not measured: {value['problem']} | | | | | |")
            continue
        out.append(f"| {name} | {value['code'] / 1e6:.2f} | {value['seconds']:.2f} | {value['code'] / 1e6 / value['seconds']:.2f} | {value['functions']} | "
                   f"{100 * value['instrumented'] / max(1, value['functions']):.1f} % | {value['new_bytes'] / max(1, value['bytes']):.2f} ({value['table_bytes'] / max(1, value['bytes']):.2f}) |")
    return "\n".join(out) + "\n"
