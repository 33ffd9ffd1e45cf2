"""The CPU-bound programs of a distribution, each with some seconds of its real work, beside which its start counts for little.

They are those of the paper's table 1 (SPECint2000) or their like in Debian, and some interpreters. What they read is made here,
and is always the same. For profiles they do the same work on other input.
"""

import dataclasses
import os
import pathlib
import random
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "corpus"))
import data  # noqa: E402

LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
MEGABYTE = 1_000_000


def path_of(program: str) -> str | None:
    if program == "cc1":
        ran = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=False)
        return ran.stdout.strip() or None
    return shutil.which(program, path=f"{os.environ['PATH']}:/usr/games")


@dataclasses.dataclass(frozen=True)
class Program:
    """`command` runs in a folder with everything that `inputs` makes; `reads` is its standard input, of that folder."""
    name: str
    command: tuple[str, ...]
    reads: str = ""
    libraries: tuple[str, ...] = ()  # with a part in the work: their growth is counted, too
    result: str = ""  # a file that it writes; it is compared, as are the lines of its output
    lines: str = ""  # that have this in them
    training: tuple[str, ...] = ()  # the command for a profile, if it is another

    def path(self) -> str | None:
        return path_of(self.command[0])


GAP = """s := 0;; for i in [1 .. 12000000] do s := (s * 3 + i) mod 1000003; od; Print(s, "\\n");
Print(Length(ConjugacyClasses(SymmetricGroup(8))), Factors(2^101 - 1), "\\n");
cube := Group((1,3,8,6)(2,5,7,4)(9,33,25,17)(10,34,26,18)(11,35,27,19), (9,11,16,14)(10,13,15,12)(1,17,41,40)(4,20,44,37)(6,22,46,35),
  (17,19,24,22)(18,21,23,20)(6,25,43,16)(7,28,42,13)(8,30,41,11), (25,27,32,30)(26,29,31,28)(3,38,43,19)(5,36,45,21)(8,33,48,24),
  (33,35,40,38)(34,37,39,36)(3,9,46,32)(2,12,47,29)(1,14,48,27), (41,43,48,46)(42,45,47,44)(14,22,30,38)(15,23,31,39)(16,24,32,40));;
Print(Size(cube), " ", Size(Centre(cube)), "\\n");
l := List([1 .. 2000000], i -> (i * 7919) mod 1000003);; Sort(l); Print(l[500000], " ", Number(l, IsOddInt), " ", Length(Filtered([1 .. 400000], IsPrimeInt)), "\\n");
Print(DeterminantMat(List([1 .. 150], i -> List([1 .. 150], j -> Random(GlobalMersenneTwister, 0, 100)))) mod 1000003, "\\n");
"""

LUA = """local function fib(i) if i < 2 then return i end return fib(i - 1) + fib(i - 2) end
print(fib(37))
local words = {}
for i = 1, 1000000 do words[i] = string.format("%x", (i * 7919) % 65537) end
table.sort(words)
print(words[1], words[#words], #table.concat(words))
"""

PERL = r"""my (%count, $n);
while (<STDIN>) { for my $w (/\w+/g) { $count{lc $w}++ } s/(\d+)/$1+1/ge; $n += length }
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print "$n $_ $count{$_}\n" for @top[0..9];
"""

PYTHON = """import collections, re
def fannkuch(n):
    p, q, s, sign, most, total = list(range(n)), list(range(n)), list(range(n)), 1, 0, 0
    while True:
        if (first := p[0]) != 0:
            q[:] = p
            flips = 1
            while (next_first := q[first]) != 0:
                q[first] = first
                if first > 2:
                    q[1:first] = q[first - 1:0:-1]
                first = next_first
                flips += 1
            most, total = max(most, flips), total + sign * flips
        if sign == 1:
            p[0], p[1], sign = p[1], p[0], -1
        else:
            p[1], p[2], sign = p[2], p[1], 1
            for i in range(2, n):
                if (sx := s[i]) != 0:
                    s[i] = sx - 1
                    break
                if i == n - 1:
                    return total, most
                s[i] = i
                p.insert(i + 1, p.pop(0))
print(fannkuch(10), collections.Counter(re.findall(r"\\w+", open("text").read(2000000))).most_common(4))
"""

SCENE = """#version 3.7; global_settings { assumed_gamma 1 } camera { location <0,2,-9> look_at 0 } light_source { <3,5,-5> rgb 1 }
#declare s = seed(3); #declare i = 0;
#while (i < 120)
  sphere { <rand(s)*8-4, rand(s)*5-2, rand(s)*6-2>, 0.35 pigment { rgb <rand(s),rand(s),1> } finish { reflection 0.3 } } #declare i = i + 1;
#end
plane { y, -2.5 pigment { checker rgb 0 rgb 1 } }
"""

SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 2500000) insert into t select i, printf('%08x', (i * 2654435761) % 4294967296), i / 7.0 from n;
create index tb on t(b);
select count(*), min(b), max(b), round(sum(c), 3) from t;
select a from t where exists (select 1 from t u where u.a = t.a / 2 and u.b < t.b) order by b limit 3;
"""

CIRCUIT = """module top(input clk, input [19:0] a, input [19:0] b, output reg [39:0] q, output reg [39:0] r);
always @(posedge clk) begin q <= a * b; r <= q ^ r; end endmodule
"""

PROGRAMS = (
    Program("gzip", ("gzip", "-9", "-n", "-c", "mixed")),
    Program("bzip2", ("bzip2", "-9", "-c", "mixed"), libraries=("libbz2.so.1.0",)),
    Program("xz", ("xz", "-T1", "-6", "-c", "mixed"), libraries=("liblzma.so.5",)),
    Program("zstd", ("zstd", "-q", "--single-thread", "-14", "-c", "mixed")),
    Program("cc1", ("cc1", "-quiet", "-fpreprocessed", "-O2", "unit.i", "-o", "unit.s"), result="unit.s"),
    Program("perl", ("perl", "words.pl"), "text"),
    # What the script `gap` starts: a script is neither instrumented nor followed by valgrind.
    Program("gap", (f"{LIBRARIES}/gap/gap", "-l", "/usr/lib/gap;/usr/share/gap", "-A", "-q", "-r"), "sums.g", ("libgap.so.9",)),
    Program("stockfish", ("stockfish", "bench", "16", "1", "12"), lines="Nodes searched", training=("stockfish", "bench", "8", "1", "11")),
    Program("link-grammar", ("link-parser", "en", "-verbosity=0", "-limit=200"), "sentences", ("liblink-grammar.so.5",)),
    Program("povray", ("povray", "-D", "-GA", "+Iscene.pov", "+Oscene.ppm", "+FP", "+W900", "+H720", "+A0.2", "-J", "+WT1"), result="scene.ppm"),
    Program("sqlite3", ("sqlite3", ":memory:"), "work.sql", ("libsqlite3.so.0",)),
    Program("nextpnr", ("nextpnr-ice40", "-q", "--hx8k", "--package", "ct256", "--json", "circuit.json", "--asc", "circuit.asc", "--seed", "1", "--threads", "1"),
            result="circuit.asc"),
    Program("kissat", ("kissat", "-q", "clauses")),
    Program("lua5.4", ("lua5.4", "work.lua")),
    Program("python3", ("python3", "work.py")),
)


def clauses(variables: int, seed: int) -> str:
    rng = random.Random(seed)
    count = int(variables * 4.26)
    lines = [" ".join(str(v * rng.choice((1, -1))) for v in rng.sample(range(1, variables + 1), 3)) + " 0" for _ in range(count)]
    return f"p cnf {variables} {count}\n" + "\n".join(lines) + "\n"


def sentences(count: int, seed: int) -> str:
    rng = random.Random(seed)
    nouns, verbs = "dog cat man woman house river child teacher song story".split(), "saw liked heard found chased told followed remembered".split()
    adjectives, places = "old small green quiet happy tired".split(), "in near under behind with over".split()

    def noun() -> str:
        return f"the {rng.choice(adjectives) + ' ' if rng.random() < 0.6 else ''}{rng.choice(nouns)}"

    def sentence() -> str:
        return (f"{noun()} that {noun()} {rng.choice(verbs)} {rng.choice(verbs)} {noun()} {rng.choice(places)} {noun()} and {noun()} "
                f"{rng.choice(verbs)} {noun()} {rng.choice(places)} {noun()}")

    return "".join(sentence().capitalize() + ".\n" for _ in range(count))


def c_unit(folder: pathlib.Path, seed: int) -> None:
    """A translation unit of some size, preprocessed: a program by csmith."""
    ran = subprocess.run(["csmith", "--seed", str(seed), "--max-funcs", "60", "--max-block-size", "8", "--max-block-depth", "5", "--stop-by-stmt", "4000"], cwd=folder, capture_output=True, text=True, check=True)
    (folder / "unit.c").write_text(ran.stdout)
    subprocess.run(["gcc", "-E", "-P", "-I/usr/include/csmith", "unit.c", "-o", "unit.i"], cwd=folder, check=True)


# What another input has instead: other amounts, orders and random numbers.
OTHERWISE = {
    "sums.g": (("12000000", "5000000"), ("SymmetricGroup(8)", "SymmetricGroup(7)"), ("2^101", "2^97"), ("7919", "6007"), ("400000", "300000"), (".. 150]", ".. 110]")),
    "work.lua": (("fib(37)", "fib(34)"), ("7919", "6007"), ('"%x"', '"%o"')),
    "words.pl": (("lc $w", "uc $w"), ("+1/ge", "*2/ge")),
    "work.py": (("fannkuch(10)", "fannkuch(9)"), ("2000000", "9000000")),
    "scene.pov": (("seed(3)", "seed(11)"), ("i < 120", "i < 90"), ("<0,2,-9>", "<1,3,-8>")),
    "work.sql": (("2654435761", "2246822519"), ("2500000", "1500000"), ("t.a / 2", "t.a / 3")),
    "circuit.v": (("[19:0]", "[15:0]"), ("[39:0]", "[31:0]")),
}


def other(name: str, text: str) -> str:
    for this, that in OTHERWISE[name]:
        assert this in text, f"{name} has no {this}"
        text = text.replace(this, that)
    return text


def inputs(folder: pathlib.Path, training: bool = False) -> None:
    """Everything that the programs read, in a folder that is made for it. For training, the same kinds of it, with nothing in common."""
    folder.mkdir(parents=True)
    shift = 100 if training else 0
    (folder / "text").write_bytes(data.text(30 * MEGABYTE, 1 + shift))
    (folder / "mixed").write_bytes(data.mixed(12 * MEGABYTE, 2 + shift))
    for name, text in {"sums.g": GAP, "work.lua": LUA, "words.pl": PERL, "work.py": PYTHON, "scene.pov": SCENE, "work.sql": SQL, "circuit.v": CIRCUIT}.items():
        (folder / name).write_text(other(name, text) if training else text)
    (folder / "clauses").write_text(clauses(250, 5 + shift))
    (folder / "sentences").write_text(sentences(120, 5 + shift))
    if shutil.which("csmith"):
        c_unit(folder, 8 + shift)
    if shutil.which("yosys"):
        subprocess.run(["yosys", "-q", "-p", "read_verilog circuit.v; synth_ice40 -top top -json circuit.json"], cwd=folder, check=True, capture_output=True)
