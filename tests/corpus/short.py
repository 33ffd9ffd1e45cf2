"""What the programs of a distribution are made to do, and what of it is compared.

A job is a command of a program. It runs in a folder of its own in which `text`, `mixed`, `records.json` and `empty`
lie (data.py). Its standard output, standard error, exit status and all files that it leaves must be the same however
the program is run. `{n}` stands for the amount of work.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Job:
    program: str  # as found in PATH
    name: str
    arguments: tuple[str, ...]
    input: str | None = None  # a file of the folder, on standard input
    prepare: tuple[tuple[str, ...], ...] = ()  # commands, run as they are, that make what the job reads
    libraries: tuple[str, ...] = ()  # that do the work, to be instrumented too

    @property
    def key(self) -> str:
        return f"{self.program}.{self.name}"


LUA_WORK = """
local n = tonumber(arg[1])
local function fib(i) if i < 2 then return i end return fib(i - 1) + fib(i - 2) end
print(fib(n))
local words = {}
for i = 1, n * 400 do words[i] = string.format("%x", (i * 7919) % 65537) end
table.sort(words)
print(words[1], words[#words], #table.concat(words))
local co = coroutine.wrap(function() for i = 1, n do coroutine.yield(i * i) end end)
local sum = 0
for i = 1, n do sum = sum + co() end
print(sum, pcall(function() local t = nil; return t.x end))
for k, v in string.gmatch("a=1, b=2, c=3", "(%w+)=(%w+)") do io.write(k, v, " ") end
print(select("#", table.unpack({1, 2, 3})), math.floor(2.5), 7 // 2, "x" .. 1.5)
"""

SQL_WORK = """
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < {n} * 1000)
  insert into t select i, printf('%08x', (i * 2654435761) % 4294967296), i / 7.0 from n;
create index tb on t(b);
select count(*), min(b), max(b), round(sum(c), 3) from t;
select substr(b, 1, 2) as p, count(*) from t group by p order by 2 desc, 1 limit 5;
select a from t where exists (select 1 from t u where u.a = t.a / 2 and u.b < t.b) order by b limit 3;
delete from t where a % 3 = 0;
select b, json_object('a', a, 'c', round(c, 2)) from t order by b limit 3;
select no_such_column from t;
"""

AWK_WORK = """
{ for (i = 1; i <= NF; ++i) { w = tolower($i); gsub(/[^a-z]/, "", w); if (w != "") ++count[w] } len += length($0) }
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
END { n = asorti(count, keys); for (i = 1; i <= n && i <= 20; ++i) printf "%s %d\\n", keys[i], count[keys[i]]
  print len, NR, fib(15), sprintf("%.6f", sin(1) + exp(1)), substr("abcdef", 2, 3), match("foobar", /o+/) }
"""

PERL_WORK = r"""
use strict; my (%count, $n);
while (<STDIN>) { for my $w (/\w+/g) { $count{lc $w}++ } s/(\d+)/$1+1/ge; $n += length }
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
printf "%s %d\n", $_, $count{$_} for @top[0..9];
print "$n ", sprintf("%.4f %s", sqrt(2), join ",", map { $_ ** 2 } 1..5), "\n";
eval { die { code => 7 } }; print "caught $@->{code}\n";
local $SIG{USR1} = sub { print "signalled\n" }; kill USR1 => $$;
my $pid = fork; if (!$pid) { print "child\n"; exit 3 } waitpid $pid, 0; print $? >> 8, "\n";
print unpack("H*", pack("nNvV", 1..4)), " ", scalar reverse("abc"), "\n"; exit 5;
"""

SHELL_WORK = """
f() { local i=0; while [ $i -lt 300 ]; do i=$((i + 1)); case $i in *7) printf '%s ' $i;; esac; done; echo; }
f; trap 'echo trapped' USR1; kill -USR1 $$; (exit 3); echo $?; echo "$(f | wc -c)"; set -- a b c; echo "${@#a}" "${#@}"
for w in $(head -n 20 text); do echo "$w"; done | sort | uniq -c | sort -rn | head -n 5; nosuchcommand; exit 9
"""

JQ_WORK = ('group_by(.name)[] | {name: .[0].name, n: length, size: (map(.size) | add), best: (max_by(.ratio) | .id), '
           'tags: ([.[].tags[]] | unique | length), ok: ([.[] | select(.parent.ok == true)] | length)} | '
           'select(.n > 1) | .text = "\\(.name)-\\(.size | tostring | test("7$"))"')

BC_WORK = """
scale={n}
4*a(1)
e(1)
define f(n) {{
  if (n < 2) return (1);
  return (n * f(n - 1));
}}
f(60)
2^1000 % 997
quit
"""

# Each is quick for `./check`; the long form of the corpus gives more to work on.
JOBS = [
    Job("gzip", "compress", ("-9", "-n", "-c"), "mixed"),
    Job("gzip", "decompress", ("-d", "-c"), "text.gz", (("gzip", "-nk", "text"),)),
    Job("gzip", "damaged", ("-t", "mixed.gz"), None, (("gzip", "-nk", "mixed"), ("truncate", "-s", "-100", "mixed.gz"))),
    Job("gzip", "in-place", ("-n", "text", "mixed")),
    Job("bzip2", "compress", ("-9", "-c"), "mixed", libraries=("libbz2.so.1.0",)),
    Job("bzip2", "decompress", ("-d", "-c"), "text.bz2", (("bzip2", "-k", "text"),), ("libbz2.so.1.0",)),
    Job("bzip2", "damaged", ("-t", "empty")),
    Job("xz", "compress", ("-T1", "-6", "-c"), "mixed", libraries=("liblzma.so.5",)),
    Job("xz", "threads", ("-T2", "--block-size=64KiB", "-3", "-c"), "text", libraries=("liblzma.so.5",)),
    Job("xz", "decompress", ("-d", "-c"), "text.xz", (("xz", "-k", "text"),), ("liblzma.so.5",)),
    Job("xz", "list", ("-lv", "text.xz"), None, (("xz", "-k", "text"),)),
    Job("zstd", "compress", ("-q", "--single-thread", "-12", "-c", "mixed")),
    Job("zstd", "threads", ("-q", "-T2", "-3", "-c", "text")),
    Job("zstd", "decompress", ("-q", "-d", "-c", "mixed.zst"), None, (("zstd", "-q", "mixed"),)),
    Job("zstd", "damaged", ("-q", "-t", "text"), None),
    Job("lua5.4", "work", ("-", "{n}"), "lua"),
    Job("lua5.4", "error", ("-e", "local function f(n) if n == 0 then error('deep') end return (f(n - 1)) end f(50)")),
    Job("sqlite3", "work", ("base.db",), "sql", libraries=("libsqlite3.so.0",)),
    Job("sqlite3", "dump", ("base.db", ".dump"), None, (("sqlite3", "base.db", "create table a(b); insert into a values (1), ('x'), (null);"),)),
    Job("gawk", "work", ("-f", "awk", "text")),
    Job("gawk", "error", ("BEGIN { printf \"%d\\n\", 1 / 0 }",)),
    Job("jq", "work", ("-s", "-c", JQ_WORK, "records.json"), libraries=("libjq.so.1",)),
    Job("jq", "error", (".[] | .x.y", "text")),
    Job("perl", "work", ("-e", PERL_WORK), "text"),
    Job("perl", "syntax-error", ("-e", "print 1 ) 2;")),
    Job("sed", "script", ("-E", "-n", "s/([a-z]+) ([a-z]+)/\\2 \\1/g; /trace/{=;p}; $!N; P; D", "text")),
    Job("sed", "in-place", ("-i.bak", "s/the/THE/", "text")),
    Job("grep", "regex", ("-n", "-E", "(trace|record).*[0-9]{3}|gr.{1,3}er", "text")),
    Job("grep", "perl-regex", ("-c", "-P", "(?<=the )w(\\w+)(?= )", "text")),
    Job("grep", "nothing", ("no such text", "text")),
    Job("sort", "words", ("-k", "2,2", "-k", "1nr", "--parallel=2", "-S", "200K", "text")),
    Job("sort", "check", ("-c", "text")),
    Job("bc", "digits", ("-l", "bc")),
    Job("bash", "script", ("sh",)),
    Job("dash", "script", ("sh",)),
    Job("tar", "create", ("--sort=name", "--mtime=@0", "--owner=0", "--group=0", "-czf", "all.tar.gz", "text", "empty", "records.json")),
    Job("tar", "list", ("-tf", "all.tar"), None, (("tar", "--mtime=@0", "-cf", "all.tar", "text", "empty"),)),
    Job("find", "tree", (".", "-type", "f", "-size", "-9999k", "-name", "*e*", "-exec", "wc", "-c", "{}", ";")),
    Job("diff", "texts", ("-u", "--label", "a", "--label", "b", "text", "records.json")),
    Job("sha256sum", "files", ("text", "mixed", "nowhere")),
    Job("od", "bytes", ("-A", "x", "-t", "x2z", "-N", "4096", "mixed")),
    Job("env", "environment", ()),
    Job("make", "rules", ("-s", "-f", "makefile", "-j2")),
    Job("readelf", "sections", ("-W", "-S", "-l", "-d", "/usr/bin/gzip")),
    Job("objdump", "code", ("-d", "--no-show-raw-insn", "/usr/bin/gzip")),
    Job("python3", "work", ("py", "{n}")),
    Job("git", "history", ("-c", "init.defaultBranch=main", "init", "-q", "repository")),
]

PYTHON_WORK = """
import collections, re, sys, threading, zlib
n = int(sys.argv[1])
def fib(i): return i if i < 2 else fib(i - 1) + fib(i - 2)
print(fib(n))
words = re.findall(r"\\w+", open("text").read())
print(collections.Counter(words).most_common(5), zlib.crc32(" ".join(sorted(words)).encode()))
out = []
threads = [threading.Thread(target=lambda i=i: out.append(sum(range(i * 1000)))) for i in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(out))
try: {}["missing"]
except KeyError as error: print("caught", error)
sys.exit(4)
"""

MAKEFILE = "all: a b c\n\t@echo done\nc: a b\na b c: text\n\t@wc -c text > $@\n\t@exit $(if $(filter c,$@),1,0)\n"


def scripts(amount: dict[str, int]) -> dict[str, str]:
    """Files that jobs read, by name; `amount` gives `{n}` for those that need it."""
    return {
        "lua": LUA_WORK, "sql": SQL_WORK.replace("{n}", str(amount["sql"])), "awk": AWK_WORK, "sh": SHELL_WORK,
        "bc": BC_WORK.format(n=amount["bc"]), "py": PYTHON_WORK, "makefile": MAKEFILE,
    }
