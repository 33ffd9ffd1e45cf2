"""Of the basic blocks that run, how many are in functions that are traced.

Valgrind (callgrind) runs the plain programs and counts each instruction that it executes, by file and address; nothing of
TraceBack takes part. Blocks are cut by objdump's disassembly: they start at targets of direct jumps and behind transfers.
What is traced is read from the map of the instrumented file.
"""

import bisect
import collections
import pathlib
import re
import struct
import subprocess

from objects import LEFT_OUT, is_elf
from runner import Runner

GOAL = 99.0
PROGRAMS = {
    "gzip": "gzip -9 -c text", "bzip2": "bzip2 -9 -c text", "xz": "xz -T1 -6 -c text", "zstd": "zstd -q --single-thread -12 -c mixed",
    "perl": "perl work.pl < text", "python3.13": "python3.13 work.py 12", "lua5.4": "lua5.4 work.lua 12", "tclsh8.6": "tclsh8.6 work.tcl",
    "sqlite3": "sqlite3 :memory: < work.sql", "jq": "jq -s -c 'map(.size) | add' records.json", "gawk": "gawk '{ n[$1]++ } END { print length(n) }' text",
    "bash": "bash work.sh", "git": "git -c init.defaultBranch=main init -q r", "cc1": "gcc-14 -O2 -S -o - program.c", "tar": "tar -czf a.tgz tree",
    "sort": "sort -k2,2 text", "xmllint": "xmllint --format page.xml", "cjpeg": "cjpeg -quality 85 picture.ppm", "openssl": "openssl dgst -sha256 text",
    "qjs": "qjs work.js", "kissat": "kissat -q cnf", "groff": "groff -man -Tascii page.1", "dot": "printf 'digraph g { a -> b -> c; a -> c }' > g.dot; dot -Tsvg g.dot",
}
REASONS = ("none", "bad decode", "branch into an instruction", "no room for a jump", "jump target in the entry window", "interior address taken", "calls itself",
           "signal frame", "startup code", "IFUNC resolver", "bad unwind info", "bad exception table", "overlapping functions", "unsafe instruction",
           "flags live at entry", "restartable sequence", "out of reach", "linked to skipped code", "codes exhausted", "excluded")


def executed(file: pathlib.Path) -> dict[str, set[int]]:
    """The addresses of the instructions that ran, by object."""
    names, out, at, current = {}, collections.defaultdict(set), 0, set()
    for line in file.read_text(errors="replace").splitlines():
        if line.startswith("ob="):
            match = re.match(r"ob=\((\d+)\)(?: (.*))?", line)
            if match[2]:
                names[match[1]] = match[2]
            current = out[names[match[1]]]
        elif line.startswith("cob="):
            if match := re.match(r"cob=\((\d+)\) (.*)", line):
                names[match[1]] = match[2]
        elif line[:1] in "0+-*" and line:
            word = line.split()[0]
            at = int(word, 16) if word.startswith("0x") else at if word == "*" else at + int(word)
            current.add(at)
    return out


TRANSFER = re.compile(r"^(j[a-z]+|loop[a-z]*|call|ret|bnd|notrack|syscall|hlt|ud2|repz ret)\b")


def blocks(path: str, ran: set[int]) -> set[int]:
    """The starts of the blocks that ran."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-w", path], check=True, capture_output=True, text=True, errors="replace").stdout
    leaders, order, behind = set(), [], True
    for line in listing.splitlines():
        head, _, text = line.partition(":\t")
        if not text:
            continue
        at = int(head, 16)
        order.append(at)
        if behind:
            leaders.add(at)
        behind = bool(TRANSFER.match(text))
        if behind and (target := re.search(r"\s([0-9a-f]+) <", text)):
            leaders.add(int(target[1], 16))
    # A target of an indirect jump is seen by what ran before it not having run.
    starts, before = set(), False
    for at in order:
        if at in ran and (at in leaders or not before):
            starts.add(at)
        before = at in ran
    return starts


def stubs(path: str) -> list[tuple[int, int]]:
    """Where the linker's stubs are: the PLT, which is no code of the program's."""
    text = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True, errors="replace").stdout
    found = re.findall(r"\] \.plt\S*\s+PROGBITS\s+([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", text)
    return [(int(start, 16), int(start, 16) + int(size, 16)) for start, size in found]


def functions(copy: pathlib.Path, scratch: pathlib.Path) -> list[tuple[int, int, int]]:
    """Start, size and reason of each function of an instrumented file (runtime/format/map.h)."""
    subprocess.run(["objcopy", "--dump-section", f".traceback.map={scratch}", copy, "/dev/null"], check=True, capture_output=True)
    image = scratch.read_bytes()
    header_size, = struct.unpack_from("<I", image, 12)
    count, = struct.unpack_from("<I", image, 40)
    found = []
    for i in range(count):
        original, _, size, _, _, reason = struct.unpack_from("<QQIIII", image, header_size + 56 * i)
        found.append((original, size, reason))
    return found


def main(options, runner: Runner) -> int:
    total, traced, linkage = 0, 0, 0
    why, rows, others = collections.Counter(), [], collections.Counter()
    known: dict[str, list] = {}
    for name, command in PROGRAMS.items():
        if options.only and name not in options.only:
            continue
        folder = runner.prepared()
        subprocess.run(["bash", "-c", f"valgrind -q --tool=callgrind --trace-children=yes --dump-instr=yes --callgrind-out-file=../callgrind.%p bash -c {repr_shell(command)}"],
                       cwd=folder, env=runner.environment(folder), stdin=subprocess.DEVNULL, check=False, capture_output=True)
        mine, mine_traced = 0, 0
        ran = collections.defaultdict(set)
        for file in runner.top.glob("callgrind.*"):
            for path, addresses in executed(file).items():
                ran[path] |= addresses
            file.unlink()
        for path, addresses in ran.items():
            if not is_elf(path) or LEFT_OUT.search(path) or "valgrind" in path:
                continue
            copy, report = runner.objects.copy(path, "probes")
            starts = blocks(path, addresses)
            if copy is None:
                others[f"{path}: {report['message']}"] += len(starts)
                continue
            if path not in known:
                known[path] = functions(copy, runner.top / "map")
            table = sorted(known[path])
            plt = stubs(path)
            keys = [row[0] for row in table]
            for at in starts:
                i = bisect.bisect_right(keys, at) - 1
                if any(start <= at < end for start, end in plt):
                    linkage += 1
                    continue
                inside = i >= 0 and at < table[i][0] + table[i][1]
                mine += 1
                if inside and table[i][2] == 0:
                    mine_traced += 1
                else:
                    why[REASONS[table[i][2]] if inside and table[i][2] < len(REASONS) else "outside all functions with unwind tables"] += 1
        total, traced = total + mine, traced + mine_traced
        rows.append((name, mine, mine_traced))
        print(f"corpus: {name}: {mine} blocks ran, {100 * mine_traced / max(mine, 1):.2f} % in traced functions", flush=True)
    share = 100 * traced / max(total, 1)
    lines = ["| program | blocks that ran | in traced functions |", "|---|---|---|", *(f"| {n} | {m} | {100 * t / max(m, 1):.2f} % |" for n, m, t in rows),
             f"| all | {total} | {share:.2f} % |", "",
             f"Besides, {linkage} blocks of the linker's stubs (the PLT) ran.", "", "| reason for the rest | blocks |", "|---|---|", *(f"| {r} | {c} |" for r, c in why.most_common()),
             "", "| file left alone | blocks |", "|---|---|", *(f"| {r} | {c} |" for r, c in others.most_common())]
    (options.state / "coverage.md").write_text("\n".join(lines) + "\n")
    print(f"corpus: {traced} of {total} blocks that ran are traced: {share:.2f} % (goal {GOAL:.0f}); reasons: {dict(why.most_common())}; "
          f"besides, {linkage} of the linker's stubs")
    return 0 if share >= GOAL else 1


def repr_shell(command: str) -> str:
    return "'" + command.replace("'", "'\\''") + "'"
