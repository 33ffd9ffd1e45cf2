#!/usr/bin/env python3
"""Instrumented files in the hands of other tools: each kind of program is instrumented, treated by each tool, checked,
run, and crashed, for it must still record; and what tools say about it is compared with what they say of the original.

    good_citizen.py --traceback PROGRAM --folder FOLDER [--only WORD]     exit status 1, and a line for each failure
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "corpus"))
import elflint  # noqa: E402

C_SOURCE = r"""
#include <stdio.h>
#include <string.h>
struct node { struct node* next; int value; };
__attribute__((noinline)) static int fault(struct node* n) {
  int total = 0;
  for (;; n = n->next) if ((total += n->value) > 100) return total;
}
__attribute__((noinline)) int middle(struct node* n) {
  puts("middle");
  fflush(stdout);
  return fault(n) + 1;
}
int main(int argc, char** argv) {
  struct node b = {0, argc > 1 && strcmp(argv[1], "crash") == 0 ? 2 : 1000}, a = {&b, 1};
  return middle(&a) == 0;
}
"""
CXX_SOURCE = r"""
#include <cstdio>
#include <stdexcept>
[[gnu::noinline]] int fault(int* at) { return *at + 1; }
struct Place { [[gnu::noinline]] int middle(int* at) const { if (!at) throw std::runtime_error("middle"); return fault(at); } };
int main(int argc, char**) {
  try { Place().middle(nullptr); } catch (const std::exception& e) { std::puts(e.what()); std::fflush(stdout); }
  int value = 1;
  return Place().middle(argc > 1 ? reinterpret_cast<int*>(8) : &value) != 2;
}
"""
RUST_SOURCE = r"""
#[inline(never)]
fn fault(at: *const i32) -> i32 { unsafe { std::ptr::read_volatile(at) } }
fn main() {
    println!("middle");
    let value = 1;
    let crash = std::env::args().count() > 1;
    std::process::exit((fault(if crash { std::ptr::null() } else { &value }) != 1) as i32)
}
"""
FORTRAN_SOURCE = """
program main
  implicit none
  integer, pointer :: at
  integer, target :: value
  print '(a)', 'middle'
  flush(6)
  value = 1
  at => value
  if (command_argument_count() > 0) nullify(at)
  if (fault(at) /= 1) stop 1
contains
  integer function fault(at)
    integer, pointer, intent(in) :: at
    !GCC$ ATTRIBUTES noinline :: fault
    fault = at
  end function
end program
"""
LIBRARY_SOURCE = r"""
int first_version(int x) { return x + 1; }
int second_version(int x) { return x > 3 ? x + 2 : first_version(x); }
__asm__(".symver first_version,answer@OLD_1\n.symver second_version,answer@@NEW_2");
"""
USER_SOURCE = "int answer(int); int main(void) { return answer(5) != 7; }"


class Failures:
    def __init__(self):
        self.count = 0

    def add(self, what: str) -> None:
        self.count += 1
        print(what, flush=True)


def run(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", timeout=240, **options)


def must(*command, **options) -> str:
    done = run(*command, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def complaints(file: pathlib.Path) -> set[str]:
    """What eu-elflint and readelf find wrong."""
    return elflint.complaints(file) | elflint.without_numbers(run("readelf", "-aW", file).stderr.splitlines(), file)


def libraries(file: pathlib.Path) -> str:
    return re.sub(r"\(0x[0-9a-f]+\)", "", run("ldd", file).stdout)


def identity(file: pathlib.Path) -> list[str]:
    """Soname, needed libraries, versions, build id, and the sections' names."""
    dynamic = re.findall(r"\((?:NEEDED|SONAME|RPATH|RUNPATH)\).*", must("readelf", "-dW", file))
    notes = re.findall(r"Build ID: \w+", must("readelf", "-nW", file))
    versions = re.findall(r"Name: \S+|\S+@+\S+", must("readelf", "-VW", file))
    return dynamic + notes + sorted(versions)


def sections(file: pathlib.Path) -> set[str]:
    return set(re.findall(r"\] (\.\S+)", must("readelf", "-SW", file)))


# eu-elflint looks for copy relocations in the first table of relocations alone, and patchelf sorts the tables.
COPY_QUIRK = "is for requested version"

# Each makes OUT from IN, and loses nothing of what a file needs to record.
TOOLS = {
    "copied": ["cp", "IN", "OUT"],
    "strip": ["strip", "-o", "OUT", "IN"],
    "strip-debug": ["strip", "--strip-debug", "-o", "OUT", "IN"],
    "strip-unneeded": ["strip", "--strip-unneeded", "-o", "OUT", "IN"],
    "eu-strip": ["eu-strip", "-o", "OUT", "IN"],
    "objcopy": ["objcopy", "IN", "OUT"],
    "objcopy-strip-debug": ["objcopy", "--strip-debug", "IN", "OUT"],
    "objcopy-add-section": ["objcopy", "--add-section", ".mine=/etc/passwd", "IN", "OUT"],
    "patchelf-rpath": ["patchelf", "--set-rpath", "/opt/lib", "--output", "OUT", "IN"],
    "patchelf-needed": ["patchelf", "--add-needed", "libm.so.6", "--output", "OUT", "IN"],
}


class Bench:
    def __init__(self, traceback: str, folder: pathlib.Path, failures: Failures):
        self.traceback = traceback
        self.folder = folder
        self.failures = failures
        self.environment = dict(os.environ, XDG_STATE_HOME=str(folder / "state"), DEBUGINFOD_URLS="", LC_ALL="C.UTF-8")
        for name in ("TRACEBACK", "LD_PRELOAD", "TRACEBACK_SNAP_DIR"):
            self.environment.pop(name, None)

    def check(self, good: bool, what: str) -> None:
        if not good:
            self.failures.add(what)

    def instrument(self, file: pathlib.Path) -> pathlib.Path:
        out = file.with_name(file.name + ".traced")
        must(self.traceback, "instrument", file, "-o", out)
        return out

    def snaps(self) -> list[pathlib.Path]:
        return list((self.folder / "state" / "traceback").glob("*.tbsnap"))

    def behaves(self, file: pathlib.Path, title: str) -> None:
        plain = run(file, env=self.environment)
        self.check((plain.returncode, plain.stdout, plain.stderr) == (0, "middle\n", ""), f"{title}: runs otherwise: {plain}")
        shutil.rmtree(self.folder / "state", ignore_errors=True)
        crash = run("sh", "-c", 'ulimit -c 0; exec "$0" crash', file, env=self.environment)
        self.check(crash.returncode < 0 and crash.stdout == "middle\n", f"{title}: crashes otherwise: {crash}")
        self.check(len(self.snaps()) == 1, f"{title}: does not record: {crash.stderr}")

    def tools(self, plain: pathlib.Path, traced: pathlib.Path) -> None:
        name = plain.name
        self.check(libraries(plain) == libraries(traced).replace(str(traced), str(plain)), f"{name}: ldd says otherwise")
        self.check(identity(plain) == identity(traced), f"{name}: {identity(plain)} became {identity(traced)}")
        missing = sections(plain) - sections(traced)
        self.check(not missing, f"{name}: sections are gone: {missing}")
        for tool, command in TOOLS.items():
            results = []
            for file in (plain, traced):
                out = file.with_name(f"{file.name}.{tool}")
                done = run(*[{"IN": file, "OUT": out}.get(word, word) for word in command])
                results.append((out, done.returncode, done.stderr.replace(str(file), "FILE")))
            (before, *expected), (after, *got) = results
            title = f"{name}, {tool}"
            self.check(expected == got, f"{title}: {got} instead of {expected}")
            if got[0] != 0:
                continue
            new = {line for line in complaints(after) - complaints(before) if not ("patchelf" in tool and COPY_QUIRK in line)}
            self.check(not new, f"{title}: new complaints: {sorted(new)[:5]}")
            self.behaves(after, title)
        separate = traced.with_name(traced.name + ".debug")
        self.check(run("objcopy", "--only-keep-debug", traced, separate).returncode == 0, f"{name}: no debug file can be made")
        self.check(run("readelf", "-SW", separate).returncode == 0, f"{name}: its debug file cannot be read")

    def gdb(self, traced: pathlib.Path, where: str, names: list[str]) -> None:
        """A breakpoint in a function by name is met, and the backtrace there has names."""
        done = run("gdb", "-q", "-nx", "-batch", "-ex", f"break {where}", "-ex", "run", "-ex", "backtrace", "-ex", "info symbol $pc",
                   "--args", traced, "crash", env=self.environment)
        trace = re.findall(r"^#\d+ .*", done.stdout, re.MULTILINE)
        self.check(re.search(r"^Breakpoint 1[.,]", done.stdout, re.MULTILINE) is not None,
                   f"{traced.name}: gdb does not stop in {where}: {done.stdout[-2000:]}")
        for i, name in enumerate(names):
            self.check(i < len(trace) and name in trace[i], f"{traced.name}: no {name} in {trace}")
        self.check(".traceback.text" in done.stdout, f"{traced.name}: gdb stopped elsewhere: {done.stdout[-500:]}")

    def valgrind(self, traced: pathlib.Path) -> None:
        done = run("valgrind", "-q", "--error-exitcode=9", traced, env=self.environment)
        self.check((done.returncode, done.stdout) == (0, "middle\n"), f"{traced.name}: valgrind says {done}")

    def perf(self, traced: pathlib.Path) -> None:
        data = traced.with_name("perf.data")
        done = run("perf", "record", "-e", "cpu-clock", "-F", "2000", "-g", "-o", data, traced, env=self.environment)
        if done.returncode != 0:
            print(f"perf cannot record here: {done.stderr.strip()[:200]}")
            return
        script = run("perf", "script", "-i", data).stdout
        self.check("busy" in script, f"{traced.name}: perf has no name for the copy: {script[:500]}")


def compile_all(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    sources = {"c": C_SOURCE, "cpp": CXX_SOURCE, "rs": RUST_SOURCE, "f90": FORTRAN_SOURCE}
    for suffix, text in sources.items():
        (folder / f"program.{suffix}").write_text(text)
    kinds = {
        "pie": ["gcc", "-g", "-O2", "program.c"],
        "no_pie": ["gcc", "-g", "-O2", "-fno-pie", "-no-pie", "program.c"],
        "stripped": ["gcc", "-O2", "-s", "program.c"],
        "relro_now": ["gcc", "-O1", "-Wl,-z,relro,-z,now", "program.c"],
        "packed_relocations": ["gcc", "-O2", "-Wl,-z,pack-relative-relocs", "program.c"],
        "old_hash": ["gcc", "-O2", "-Wl,--hash-style=sysv,--build-id=none", "program.c"],
        "separate_code": ["gcc", "-O2", "-Wl,-z,noseparate-code", "program.c"],
        "cxx": ["g++", "-g", "-O2", "program.cpp"],
        "clang": ["clang", "-g", "-O2", "program.c"],
        "clang_cxx": ["clang++", "-O1", "program.cpp"],
        "rust": ["rustc", "-O", "program.rs"],
        "fortran": ["gfortran", "-O2", "-g", "program.f90"],
        "gold": ["gcc", "-O2", "-fuse-ld=gold", "program.c"],
        "lld": ["clang", "-O2", "-fuse-ld=lld", "program.c"],
    }
    linkers = {"gold": "ld.gold", "lld": "ld.lld"}
    programs = {}
    for kind, command in kinds.items():
        if shutil.which(linkers.get(kind, command[0])) is None:
            print(f"{kind}: not tried, for {linkers.get(kind, command[0])} is not here")
            continue
        must(*command, "-o", kind, cwd=folder)
        programs[kind] = folder / kind
    return programs


def check_library(bench: Bench, folder: pathlib.Path) -> None:
    (folder / "library.c").write_text(LIBRARY_SOURCE)
    (folder / "user.c").write_text(USER_SOURCE)
    (folder / "versions").write_text("OLD_1 { global: answer; local: *; };\nNEW_2 { global: answer; } OLD_1;\n")
    library = folder / "libanswer.so"
    must("gcc", "-O2", "-shared", "-fPIC", "-Wl,-soname,libanswer.so.1", "-Wl,--version-script=versions", "library.c", "-o", library, cwd=folder)
    must("gcc", "user.c", "-o", "user", library, cwd=folder)
    traced = bench.instrument(library)
    bench.check(identity(library) == identity(traced), f"library: {identity(library)} became {identity(traced)}")
    bench.check(sections(library) <= sections(traced), "library: sections are gone")
    must("strip", library)
    names = must("nm", bench.instrument(library))
    bench.check(" t answer" in names and " T answer" in names, f"library: the copies of a stripped one have no names: {names}")
    tools = dict(TOOLS, soname=["patchelf", "--set-soname", "libanswer.so.1", "--output", "OUT", "IN"])
    for tool, command in tools.items():
        before, after = (file.with_name(f"{file.name}.{tool}") for file in (library, traced))
        for file, out in ((library, before), (traced, after)):
            must(*[{"IN": file, "OUT": out}.get(word, word) for word in command])
        new = complaints(after) - complaints(before)
        bench.check(not new, f"library, {tool}: new complaints: {sorted(new)[:5]}")
        place = folder / "place"
        place.mkdir(exist_ok=True)
        shutil.copy(after, place / "libanswer.so.1")
        done = run(folder / "user", env=dict(bench.environment, LD_LIBRARY_PATH=str(place)))
        bench.check((done.returncode, done.stderr) == (0, ""), f"library, {tool}: {done}")


BUSY_SOURCE = """
__attribute__((noinline)) long busy(long n) { long x = 1; while (n-- > 0) x = x * 3 ^ n; return x; }
int main(int argc, char** argv) { (void)argv; return busy(200000000l * argc) == 0; }
"""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--traceback", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    folder = options.folder.resolve()
    failures = Failures()
    bench = Bench(options.traceback, folder, failures)
    programs = compile_all(folder)
    for kind, plain in programs.items():
        if options.only not in kind:
            continue
        traced = bench.instrument(plain)
        bench.tools(plain, traced)
        bench.valgrind(traced)
        if kind in ("pie", "no_pie", "clang"):
            bench.gdb(traced, "fault", ["fault", "middle", "main"])
        if kind in ("cxx",):
            bench.gdb(traced, "Place::middle", ["Place::middle", "main"])
        if kind in ("rust",):
            bench.gdb(traced, "program::fault", ["fault", "main"])
        if kind in ("fortran",):
            bench.gdb(traced, "fault", ["fault", "MAIN__"])
    if options.only in "library":
        check_library(bench, folder)
    if options.only in "perf":
        (folder / "busy.c").write_text(BUSY_SOURCE)
        must("gcc", "-O2", "busy.c", "-o", "busy", cwd=folder)
        bench.perf(bench.instrument(folder / "busy"))
    print(f"{failures.count} failures")
    return 1 if failures.count else 0


if __name__ == "__main__":
    sys.exit(main())
