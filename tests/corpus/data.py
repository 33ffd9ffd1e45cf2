"""Inputs for real programs: always the same bytes, made here, like what such programs meet."""

import json
import pathlib
import random

WORDS = (
    "the of and to in is that it was for on are as with his they at be this from have or by one had not but what all were "
    "when we there can an your which their said if do will each about how up out them then she many some so these would "
    "other into has more her two like him see time could no make than first been its who now people my made over did down "
    "only way find use may water long little very after words called just where most know trace record probe thread"
).split()


def text(size: int, seed: int = 1) -> bytes:
    """Prose of a kind: skewed word frequencies, lines of uneven length, some numbers and some UTF-8."""
    rng = random.Random(seed)
    lines, total = [], 0
    while total < size:
        words = [WORDS[min(int(rng.expovariate(0.06)), len(WORDS) - 1)] for _ in range(rng.randint(1, 16))]
        if rng.random() < 0.2:
            words.append(str(rng.randint(0, 10**6)))
        if rng.random() < 0.05:
            words.append("größer")
        line = " ".join(words) + "\n"
        lines.append(line)
        total += len(line)
    return "".join(lines).encode()[:size]


def mixed(size: int, seed: int = 2) -> bytes:
    """Parts that compress well, parts that hardly do, and parts that not at all."""
    rng = random.Random(seed)
    out = bytearray()
    while len(out) < size:
        kind = rng.randint(0, 3)
        if kind == 0:
            out += rng.randbytes(4096)
        elif kind == 1:
            out += bytes(rng.randint(0, 255) for _ in range(16)) * 512
        else:
            out += text(16384, rng.randint(0, 1 << 30))
    return bytes(out[:size])


def records(count: int, seed: int = 3) -> bytes:
    """JSON objects, one a line."""
    rng = random.Random(seed)
    return b"".join(
        json.dumps({
            "id": i, "name": rng.choice(WORDS), "size": rng.randint(0, 9999), "ratio": round(rng.random(), 6),
            "tags": rng.sample(WORDS, 3), "parent": {"id": i // 2, "ok": rng.random() < 0.5} if i % 3 else None,
        }).encode() + b"\n"
        for i in range(count)
    )


def write_all(folder: pathlib.Path, scale: int) -> None:
    """The files that jobs read, `scale` times 64 KiB or so each."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text").write_bytes(text(scale * 65536))
    (folder / "mixed").write_bytes(mixed(scale * 65536))
    (folder / "records.json").write_bytes(records(scale * 400))
    (folder / "empty").write_bytes(b"")
