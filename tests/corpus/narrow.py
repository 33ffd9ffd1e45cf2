"""Cuts a failure down: first to the files, then to the function whose instrumentation makes the job fail."""

import re
import subprocess

from jobs import Script
from runner import Runner


def halved(items: list, fails) -> list:
    """The smallest run of `items` found, by halving, for which `fails` is true."""
    while len(items) > 1:
        middle = len(items) // 2
        for part in (items[:middle], items[middle:]):
            if fails(part):
                items = part
                break
        else:
            return items
    return items


def unwind_entries(path: str) -> list[tuple[int, int]]:
    """Start and end of each function: as the instrumentor numbers them, by rising address from 0."""
    text = subprocess.run(["readelf", "--debug-dump=frames", path], check=False, capture_output=True, text=True, errors="replace").stdout
    return sorted({(int(a, 16), int(b, 16)) for a, b in re.findall(r"FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)})


def main(job: Script, runner: Runner, mode: str) -> int:
    plain, used = runner.observed(job)

    def difference(choice: dict[str, tuple[str, ...]]) -> str | None:
        lines, _ = runner.bound(used, mode, choice)
        return plain.difference(runner.run(job, mode, lines, 60 + 30 * plain.seconds))

    def fails(choice: dict[str, tuple[str, ...]]) -> bool:
        return difference(choice) is not None

    everything = {path: () for path in used}
    if not fails(everything):
        print(f"corpus: {job.key} does not fail in {mode}")
        return 0
    files = halved(used, lambda part: fails(dict.fromkeys(part, ())))
    print(f"corpus: {job.key} in {mode}: needs {', '.join(files)}", flush=True)
    for path in files:
        others = {other: () for other in files if other != path}
        count = runner.objects.copy(path, mode)[1]["functions"]
        low, high = 0, count - 1
        while low < high:
            middle = (low + high) // 2
            if fails({**others, path: (f"--only-functions={low}-{middle}",)}):
                high = middle
            elif fails({**others, path: (f"--only-functions={middle + 1}-{high}",)}):
                low = middle + 1
            else:
                break
            print(f"corpus: {path}: functions {low}-{high}", flush=True)
        entries = unwind_entries(path)
        for number in range(low, min(high, low + 3) + 1):
            if number < len(entries):
                start, end = entries[number]
                print(f"corpus: {path}: function {number}, {start:#x} to {end:#x}")
                code = subprocess.run(["objdump", "-d", "-w", f"--start-address={start:#x}", f"--stop-address={end:#x}", path], check=False, capture_output=True, text=True)
                print("\n".join(code.stdout.splitlines()[6:206]))
    return 1
