"""Of the basic blocks that run, how many are in functions that are traced.

Valgrind (callgrind) runs the plain programs and counts each instruction that it executes, by file and address; nothing of
TraceBack takes part. Blocks are cut by objdump's disassembly: they start at targets of direct jumps and behind transfers.
What is traced is read from the map of the instrumented file.
"""

import bisect
import collections
import pathlib
import re
import subprocess

import maps
from objects import LEFT_OUT, is_elf
from runner import TROUBLE, Runner
from state import State

GOAL = 99.0
PROGRAMS = {
    "gzip": "gzip -9 -c text", "bzip2": "bzip2 -9 -c text", "xz": "xz -T1 -6 -c text", "zstd": "zstd -q --single-thread -12 -c mixed",
    "perl": "perl work.pl < text", "python3.13": "python3.13 work.py 12", "lua5.4": "lua5.4 work.lua 12", "tclsh8.6": "tclsh8.6 work.tcl",
    "sqlite3": "sqlite3 :memory: < work.sql", "jq": "jq -s -c 'map(.size) | add' records.json", "gawk": "gawk '{ n[$1]++ } END { print length(n) }' text",
    "bash": "bash work.sh", "git": "git -c init.defaultBranch=main init -q r", "cc1": "gcc-14 -O2 -S -o - program.c", "tar": "tar -czf a.tgz tree",
    "sort": "sort -k2,2 text", "xmllint": "xmllint --format page.xml", "cjpeg": "cjpeg -quality 85 picture.ppm", "openssl": "openssl dgst -sha256 text",
    "qjs": "qjs work.js", "kissat": "kissat -q cnf", "groff": "groff -man -Tascii page.1", "dot": "printf 'digraph g { a -> b -> c; a -> c }' > g.dot; dot -Tsvg g.dot",
}
SECONDS = 40.0  # that a program takes


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


def measured(name: str, runner: Runner) -> dict:
    """Blocks that ran, and what became of them."""
    folder = runner.prepared()
    command = f"valgrind -q --tool=callgrind --trace-children=yes --dump-instr=yes --callgrind-out-file=../callgrind.%p bash -c {repr_shell(PROGRAMS[name])}"
    subprocess.run(["bash", "-c", command], cwd=folder, env=runner.environment(folder), stdin=subprocess.DEVNULL, check=False, capture_output=True,
                   start_new_session=True, timeout=1200)
    ran = collections.defaultdict(set)
    for file in runner.top.glob("callgrind.*"):
        for path, addresses in executed(file).items():
            ran[path] |= addresses
        file.unlink()
    total, traced, linkage, why, alone = 0, 0, 0, collections.Counter(), collections.Counter()
    for path, addresses in ran.items():
        if not is_elf(path) or LEFT_OUT.search(path) or "valgrind" in path:
            continue
        copy, report = runner.objects.copy(path, "probes")
        starts = blocks(path, addresses)
        if copy is None:
            alone[f"{path}: {report['message']}"] += len(starts)
            continue
        table = maps.functions(copy)
        keys = [function.original for function in table]
        plt = stubs(path)
        for at in starts:
            if any(start <= at < end for start, end in plt):
                linkage += 1
                continue
            i = bisect.bisect_right(keys, at) - 1
            inside = i >= 0 and at < table[i].original + table[i].size
            total += 1
            if inside and table[i].copy:
                traced += 1
            else:
                why[maps.REASONS[table[i].reason] if inside and table[i].reason < len(maps.REASONS) else "outside all functions with unwind tables"] += 1
    return {"blocks": total, "traced": traced, "stubs": linkage, "reasons": dict(why), "alone": dict(alone)}


def judge(name: str, runner: Runner, state: State, again: bool) -> str:
    """Measures what has not been measured; what to say about it."""
    known = state.of("coverage", name, PROGRAMS[name])
    if again or "probes" not in known["modes"]:
        try:
            result = measured(name, runner)
        except TROUBLE as failure:
            result = {"blocks": 0, "traced": 0, "stubs": 0, "reasons": {}, "alone": {str(failure): 0}}
        state.note(known, "probes", "" if result["blocks"] else "no block ran", **result)
    result = known["modes"]["probes"]
    return f"{name}: {result['blocks']} blocks ran, {100 * result['traced'] / max(result['blocks'], 1):.2f} % in traced functions"


def repr_shell(command: str) -> str:
    return "'" + command.replace("'", "'\\''") + "'"
