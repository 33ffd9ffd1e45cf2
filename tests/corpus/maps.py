"""The map of an instrumented file (runtime/format/map.h)."""

import dataclasses
import pathlib
import struct
import subprocess
import tempfile

REASONS = ("none", "bad decode", "branch into an instruction", "no room for a jump", "jump target in the entry window", "interior address taken", "calls itself",
           "signal frame", "startup code", "IFUNC resolver", "bad unwind info", "bad exception table", "overlapping functions", "unsafe instruction",
           "flags live at entry", "restartable sequence", "out of reach", "linked to skipped code", "codes exhausted", "excluded", "patched while running",
           "split stack", "entry of a virtual machine")


@dataclasses.dataclass(frozen=True)
class MappedFunction:
    number: int  # by rising address, as `traceback instrument --exclude` counts
    original: int
    copy: int  # 0: there is none
    size: int
    copy_size: int
    reason: int
    name: str

    def __str__(self) -> str:
        return f"{self.name or 'a function'} at {self.original:#x}"


def tables(copy: pathlib.Path) -> tuple[bytes, int, tuple[int, int, int, int]]:
    """The map, where its tables begin, and how many functions, DAGs, blocks and addresses they have."""
    with tempfile.NamedTemporaryFile() as section:
        subprocess.run(["objcopy", "--dump-section", f".traceback.map={section.name}", copy, "/dev/null"], check=True, capture_output=True)
        image = section.read()
    return image, *struct.unpack_from("<I", image, 12), struct.unpack_from("<4I", image, 40)


def functions(copy: pathlib.Path) -> list[MappedFunction]:
    image, header_size, (count, dags, blocks, addresses) = tables(copy)
    strings = header_size + 56 * count + 12 * dags + 24 * blocks + 8 * addresses
    found = []
    for i in range(count):
        original, place, size, copy_size, name, reason = struct.unpack_from("<QQIIII", image, header_size + 56 * i)
        end = image.find(b"\0", strings + name)
        found.append(MappedFunction(i, original, place, size, copy_size, reason, image[strings + name:end].decode(errors="replace")))
    return found


def profile_at_random(copy: pathlib.Path, seed: int) -> str:
    """The text of a profile (model/branch_profile.h) that says anything of each block of the original; nothing if that has no build id.
    The same of the same block, whichever others have copies."""
    image, header_size, (count, dags, blocks, _) = tables(copy)
    id_size, = struct.unpack_from("<I", image, 60)
    if id_size == 0:
        return ""
    lines = [f"traceback-profile 2\nmodule {image[64:64 + id_size].hex()}\n"]
    for i in range(blocks):
        start, = struct.unpack_from("<I", image, header_size + 56 * count + 12 * dags + 24 * i)
        chance = ((start ^ seed) * 0x9E3779B97F4A7C15 % 2**64) >> 32
        lines.append(f"{start:x} {chance % 3 * (chance >> 8 & 0xFFF)} 100 {(chance >> 4) % 3 * 50} {chance >> 2 & 1}\n")
    return "".join(lines)
