"""Inputs for real programs: always the same bytes, made here, like what such programs meet."""

import json
import math
import pathlib
import random
import struct

import sources

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


def picture(width: int, height: int) -> bytes:
    """A PPM: gradients, a disc, and some noise."""
    rng = random.Random(4)
    pixels = bytearray()
    for y in range(height):
        for x in range(width):
            disc = (x - width // 2) ** 2 + (y - height // 2) ** 2 < (height // 3) ** 2
            pixels += bytes((x * 255 // width, 255 - y * 255 // height if disc else y * 255 // height, rng.randrange(32) + 99))
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(pixels)


def sound(samples: int) -> bytes:
    """A WAV of one channel: a rising tone."""
    values = (int(9000 * math.sin(i * (0.02 + i * 2e-6)) + 3000 * math.sin(i * 0.3)) for i in range(samples))
    body = b"".join(struct.pack("<h", value) for value in values)
    return struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(body), b"WAVE", b"fmt ", 16, 1, 1, 44100, 88200, 2, 16, b"data", len(body)) + body


def table(rows: int) -> str:
    rng = random.Random(6)
    return "id,name,size\n" + "".join(f"{i},{rng.choice(WORDS)},{rng.randint(1, 9999)}\n" for i in range(rows))


def formula(variables: int) -> str:
    """Random 3-SAT, near where it is hardest."""
    rng = random.Random(7)
    clauses = [[v * rng.choice((1, -1)) for v in rng.sample(range(1, variables + 1), 3)] for _ in range(int(variables * 4.2))]
    return f"p cnf {variables} {len(clauses)}\n" + "".join(f"{a} {b} {c} 0\n" for a, b, c in clauses)


def reads(genome: str, count: int) -> str:
    """FASTQ: pieces of the genome with an error here and there."""
    rng, out = random.Random(8), []
    for i in range(count):
        at = rng.randrange(len(genome) - 100)
        piece = "".join(rng.choice("acgt") if rng.random() < 0.01 else base for base in genome[at:at + 100])
        out.append(f"@r{i}\n{piece}\n+\n{'I' * 100}\n")
    return "".join(out)


def proteins(count: int) -> str:
    """FASTA: relatives of one chain."""
    rng = random.Random(9)
    acids = "ACDEFGHIKLMNPQRSTVWY"
    chain = "".join(rng.choices(acids, k=120))
    return "".join(f">p{i}\n" + "".join(rng.choice(acids) if rng.random() < 0.15 else a for a in chain) + "\n" for i in range(count))


def write_all(folder: pathlib.Path, scale: int) -> None:
    """The files that jobs read, `scale` times 64 KiB or so each."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text").write_bytes(text(scale * 65536))
    (folder / "mixed").write_bytes(mixed(scale * 65536))
    (folder / "records.json").write_bytes(records(scale * 400))
    for name, content in sources.FILES.items():
        (folder / name).write_text(content)
    (folder / "tree").mkdir(exist_ok=True)
    for i in range(1, 6):
        (folder / "tree" / f"file{i}").write_bytes(text(3000 * i, 10 + i))
    (folder / "picture.ppm").write_bytes(picture(120, 80))
    (folder / "sound.wav").write_bytes(sound(22050))
    (folder / "table.csv").write_text(table(300))
    (folder / "cnf").write_text(formula(120))
    genome = "".join(random.Random(5).choices("acgt", k=4000))
    (folder / "genome.fa").write_text(f">g1\n{genome[:3000]}\n>g2\n{genome[3000:]}\n")
    (folder / "reads.fq").write_text(reads(genome, 60))
    (folder / "proteins.fa").write_text(proteins(8))
    (folder / "empty").write_bytes(b"")
