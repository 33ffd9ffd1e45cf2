"""What processes hold of the machine, read from /proc while they are at rest, and whether it grows."""

import os
import pathlib
import statistics

# So much may the median of the last third exceed that of the first: a part of it, and a number beside.
BOUNDS = {
    "resident KiB": (0.05, 4096),
    "mappings": (0.05, 64),  # libc keeps stacks of threads that ended, more or fewer of them
    "descriptors": (0, 0),
    "processes": (0, 0),
    "threads": (0, 0),
    "ring files": (0, 8),  # of threads that ended: as many as ran at one time
    "ring KiB": (0, 8 * 1280),
}
FEWEST = 6  # samples from which growth can be told


def family(top: int) -> list[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            children.setdefault(int(path.read_text().rpartition(")")[2].split()[1]), []).append(int(path.parent.name))
        except OSError:
            pass
    found = [top]
    for pid in found:
        found += children.get(pid, [])
    return found


def is_recorded(pid: int) -> bool:
    try:
        return any(line.endswith("/process\n") and "traceback" in line for line in open(f"/proc/{pid}/maps"))
    except OSError:
        return False


def sample(pids: list[int], rings: pathlib.Path) -> dict[str, int]:
    """`rings`: the folder in which theirs lie, and nobody else's."""
    sums = dict.fromkeys(BOUNDS, 0)
    for pid in pids:
        proc = pathlib.Path(f"/proc/{pid}")
        try:
            status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
            sums["resident KiB"] += int(status.get("VmRSS", "0").split()[0])
            sums["threads"] += int(status["Threads"])
            sums["mappings"] += (proc / "maps").read_bytes().count(b"\n")
            sums["descriptors"] += len(os.listdir(proc / "fd"))
            sums["processes"] += 1
        except OSError:
            continue  # it has ended
    for path in rings.rglob("*"):
        try:
            sums["ring files"] += path.is_file()
            sums["ring KiB"] += path.stat().st_blocks // 2 if path.is_file() else 0
        except OSError:
            continue
    return sums


def thirds(samples: list[dict[str, int]], name: str) -> tuple[float, float]:
    third = max(1, len(samples) // 3)
    return (statistics.median(each[name] for each in samples[:third]), statistics.median(each[name] for each in samples[-third:]))


def growth(samples: list[dict[str, int]]) -> list[str]:
    """What has grown beyond its bound. The first sample is left out: it is of a process that has just begun."""
    samples = samples[1:]
    if len(samples) < FEWEST:
        return [f"only {len(samples)} samples, of which growth cannot be told"]
    grown = []
    for name, (part, beside) in BOUNDS.items():
        first, last = thirds(samples, name)
        if last > first * (1 + part) + beside:
            grown.append(f"{name} grew from {first:.0f} to {last:.0f}")
    return grown


def table(samples: list[dict[str, int]]) -> str:
    """Markdown: medians of the first and the last third, and the most."""
    rows = ["| | first third | last third | most | bound |", "|---|---|---|---|---|"]
    for name, (part, beside) in BOUNDS.items():
        first, last = thirds(samples[1:] or samples, name)
        bound = " + ".join(text for text in (f"{100 * part:.0f} %" if part else "", f"{beside}" if beside else "") if text) or "none"
        rows.append(f"| {name} | {first:,.0f} | {last:,.0f} | {max(each[name] for each in samples):,} | {bound} |")
    return "\n".join(rows) + "\n"
