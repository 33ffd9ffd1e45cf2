"""Cuts a failure down: first to the file, then to the function whose instrumentation makes the job fail.

Both by the same question: what is the least k for which the job passes when the first k are left out? The k-th is then a
culprit, and if there are several it is the last.
"""

import re
import subprocess
from collections.abc import Callable

from jobs import Script
from runner import Runner


def last_culprit(count: int, passes_without: Callable[[int], bool]) -> int:
    """The index of the last of `count` things that makes it fail; `passes_without(k)`: with the first k left out."""
    low, high = 1, count
    while low < high:
        middle = (low + high) // 2
        if passes_without(middle):
            high = middle
        else:
            low = middle + 1
    return low - 1


def unwind_entries(path: str) -> list[tuple[int, int]]:
    """Start and end of each function, as the instrumentor numbers them: by rising address from 0."""
    text = subprocess.run(["readelf", "--debug-dump=frames", path], check=False, capture_output=True, text=True, errors="replace").stdout
    found = sorted({(int(a, 16), int(b, 16)) for a, b in re.findall(r"FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)})
    return [(start, end) for start, end in found if end > start]


def main(job: Script, runner: Runner, mode: str) -> int:
    used = runner.observed(job)[1]
    plain = runner.run(job, "plain")

    def passes(choice: dict[str, tuple[str, ...]]) -> bool:
        lines, _ = runner.bound(used, mode, choice)
        return plain.difference(runner.run(job, mode, lines, 60 + 30 * plain.seconds)) is None

    if passes(dict.fromkeys(used, ())):
        print(f"corpus: {job.key} does not fail in {mode}")
        return 0
    path = used[last_culprit(len(used), lambda k: passes(dict.fromkeys(used[k:], ())))]
    alone = {path: ()} if not passes({path: ()}) else dict.fromkeys(used, ())
    print(f"corpus: {job.key} in {mode}: {path}{' alone' if len(alone) == 1 else ', with others'}", flush=True)

    count = runner.objects.copy(path, mode)[1]["functions"]
    number = last_culprit(count, lambda k: passes({**alone, path: (f"--skip-functions=0-{k - 1}",)}))
    entries = unwind_entries(path)
    start, end = entries[number] if number < len(entries) else (0, 0)
    print(f"corpus: {path}: function {number} of {count}, {start:#x} to {end:#x}")
    code = subprocess.run(["objdump", "-d", "-w", f"--start-address={start:#x}", f"--stop-address={end:#x}", path], check=False, capture_output=True, text=True)
    print("\n".join(code.stdout.splitlines()[6:206]))
    return 1
