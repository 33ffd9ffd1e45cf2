"""Upstream's test suites, run on the plain programs and on instrumented ones: no test may fail that passed before.

Sources come from Debian's own source packages, fetched when they are needed. Where one cannot be had, that is said.
"""

import dataclasses
import pathlib
import re
import subprocess

from objects import LEFT_OUT, is_elf
from runner import TROUBLE, Late, Runner
from state import State

MINUTES = 60


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    source: str  # package, or https address of a git repository
    unpack: str  # a pattern of the archive's name, or a tag
    prepare: str  # shell, plain, in the unpacked folder
    run: str  # shell, in the same folder; what it starts is instrumented
    failed: str  # of a line that names a failed test: group 1 is its name
    total: str  # of a line that counts tests: group 1 is the number
    seconds: float  # that it takes
    paths: tuple[str, ...] = ()  # programs of the suite's own, instrumented besides what it uses of the system's


SUITES = [
    Suite("zstd", "libzstd", "libzstd_*.orig.tar.*", "make -s -C tests datagen",
          "cd tests; ZSTD_BIN=/usr/bin/zstd DATAGEN_BIN=./datagen ./playTests.sh", r"^(.*FAILED.*)$", r"^===>\s+(\S.*)$", 100),
    Suite("perl", "perl", "perl_*.orig.tar.xz",
          "cp -rn /usr/share/perl/5.40/. /usr/lib/x86_64-linux-gnu/perl/5.40/. /usr/lib/x86_64-linux-gnu/perl-base/. lib/; ln -sf /usr/bin/perl t/perl",
          "cd t; prove -e ./perl base/*.t cmd/*.t re/{regexp,pat,subst,qr,reg_eval,reg_mesg}.t "
          "op/{sprintf,pack,sort,hash,array,closure,die,eval,fork,goto,local,method,split,substr,tie,tr,utf8decode,signals,threads,sub,lc,push,"
          "splice,range,repeat,reverse,each,delete,grep,list,loopctl,my,ord,join,index,inc,int,hexfp,arith,bop,chop,chr,cond,context,defined,do}.t",
          r"^(\S+\.t) .*(?:Failed|Wstat|Dubious)", r"Tests=(\d+)", 45),
    Suite("tcl", "tcl8.6", "tcl8.6_*.orig.tar.*", "true",
          "cd tests; tclsh8.6 all.tcl -file '[a-eg-hj-rt-z]*.test' -notfile 'exec.test http*.test socket*.test io*.test chan*.test clock.test'", r"^==== (\S+) .*FAILED$",
          r"^all.tcl:\s+Total\s+(\d+)", 120),
    Suite("lua5.4", "https://github.com/lua/lua", "v5.4.7", "true",
          "cd testes; for f in gc db calls strings literals tpack utf8 attrib locals constructs code big cstack nextvar pm api events vararg closure "
          "coroutine goto errors math sort bitwise verybig files; do lua5.4 -e '_U = true; _port = true' $f.lua > /dev/null 2> e && echo passed $f || "
          "{ echo failed $f; tail -n 1 e; }; done; lua5.4 -e '_U = true' all.lua > /dev/null 2>&1 && echo passed all || echo failed all",
          r"^failed (\S+)", r"^passed (\S+)$", 40),
    Suite("lua5.1", "golang-github-yuin-gopher-lua", "golang-github-yuin-gopher-lua_*.orig.tar.*", "true",
          "cd _lua5.1-tests; for f in attrib calls closure code constructs events literals locals math nextvar pm sort strings vararg; do "
          "lua5.1 -e '_U = true' $f.lua > /dev/null 2> e && echo passed $f || { echo failed $f; tail -n 1 e; }; done",
          r"^failed (\S+)", r"^passed (\S+)$", 5),
    Suite("python", "", "", "true",
          "python3.13 -m test -j0 --timeout 300 test_re test_json test_dict test_list test_set test_str test_bytes test_int test_float test_complex "
          "test_math test_cmath test_decimal test_fractions test_statistics test_random test_struct test_array test_memoryview test_collections "
          "test_itertools test_functools test_operator test_heapq test_bisect test_deque test_enum test_dataclasses test_typing test_generators "
          "test_coroutines test_asyncgen test_contextlib test_exceptions test_exception_group test_traceback test_sys test_gc test_weakref test_copy "
          "test_pickle test_marshal test_hashlib test_hmac test_zlib test_gzip test_bz2 test_lzma test_zipfile test_tarfile test_csv test_sqlite3 "
          "test_ctypes test_threading test_thread test_queue test_signal test_subprocess test_fork1 test_wait4 test_select test_selectors test_mmap "
          "test_fcntl test_os test_posix test_io test_file test_codecs test_unicodedata test_xml_etree test_pyexpat test_ast test_compile test_dis "
          "test_code test_grammar test_syntax test_descr test_class test_super test_property test_slice test_sort test_format test_fstring test_datetime "
          "test_time test_calendar test_argparse test_unpack test_scope test_opcodes test_peepholer test_monitoring test_capi test_faulthandler",
          r"^test (\S+) failed", r"^Total tests: run=([\d,]+)", 170),
    Suite("redis", "redis", "redis_*.orig.tar.*",
          "for p in redis-server redis-cli redis-benchmark redis-check-aof redis-check-rdb redis-sentinel; do ln -sf /usr/bin/$p src/$p; done",
          "timeout 1200 ./runtest --clients 1 --single unit/type/list --single unit/type/hash --single unit/type/set --single unit/scripting --single unit/expire "
          "--single unit/bitops --single unit/sort --single unit/geo --single unit/hyperloglog --single unit/multi", r"^\[(?:err|exception)\]: (.*?)(?: in tests.*)?$", r"^\[ok\]: (.*?)(?: \(\d+ ms\))?$", 180),
    Suite("jq", "jq", "jq_*.orig.tar.*", "true",
          "cd tests; for f in jq man onig base64 uri optional; do [ -f $f.test ] && jq -L modules --run-tests $f.test; done",
          r"^\*\*\* (.*)$", r"^(\d+) of \d+ tests passed", 2),
    Suite("sqlite", "sqlite3", "sqlite3_*.orig.tar.xz",
          "sh ./configure --with-tcl=/usr/lib/tcl8.6 > /dev/null && make -s -j2 testfixture > /dev/null",
          "for t in select1 select2 select3 join join2 where where2 index insert update delete trigger1 trigger2 view expr func date minmax misc1 "
          "misc2 types collate1 collate2 subquery fkey1 fkey2 pragma attach vacuum btree01 btree02 trans savepoint with1 window1 json101 fts3aa fts4aa "
          "rtree1 e_expr e_select intpkey alter cast conflict cursorhint distinct enc in limit lock like null pager1 malloc mutex1 blob cse "
          "autoinc analyze tkt1435 sort memdb; do [ -f test/$t.test ] && timeout 100 ./testfixture test/$t.test 2>&1; done",
          r"^! (\S+) expected|^(?:Failures on these tests: )(.*)$", r"^\d+ errors out of (\d+) tests", 50, ("testfixture",)),
    Suite("exceptions", "", "", r"""
tar -xf /usr/src/gcc-14/gcc-14*-dfsg.tar.xz --strip-components=1 --wildcards '*/gcc/testsuite/g++.dg/eh/*' '*/gcc/testsuite/g++.dg/torture/pr*.C' '*/libstdc++-v3/testsuite/18_support/*' '*/libstdc++-v3/testsuite/util/testsuite_*.h'
mkdir -p bin
for f in $(grep -l 'dg-do run' gcc/testsuite/g++.dg/eh/*.C) $(ls libstdc++-v3/testsuite/18_support/{exception_ptr,nested_exception,uncaught_exceptions,bad_exception,exception,terminate_handler,unexpected_handler}/*.cc libstdc++-v3/testsuite/18_support/*/*/throw*.cc 2>/dev/null | grep -v _neg); do
  echo $f
done | xargs -P 2 -I{} sh -c 'g++ -O2 -w -Ilibstdc++-v3/testsuite/util -pthread -o bin/$(echo {} | sed "s,.*testsuite/,,; s,/,_,g").x {} 2>/dev/null'
ls bin | wc -l
""",
          "for f in bin/*.x; do timeout 60 $f > /dev/null 2>&1; s=$?; [ $s = 0 ] && echo \"passed $f\" || echo \"failed $f $s\"; done", r"^failed (.*)$", r"^passed (\S+)$", 5,
          ("bin/*.x",)),
]


@dataclasses.dataclass
class Result:
    status: int
    failed: set[str]
    total: int


class Suites:
    def __init__(self, runner: Runner, state: pathlib.Path):
        self.runner, self.folder = runner, state / "suites"
        self.folder.mkdir(parents=True, exist_ok=True)

    def unpacked(self, suite: Suite) -> pathlib.Path | str:
        """The suite's folder, prepared; else why there is none."""
        folder = self.folder / suite.name
        if (folder / ".prepared").exists():
            return folder
        folder.mkdir(exist_ok=True)
        if suite.source.startswith("https:"):
            if not any(folder.iterdir()):
                cloned = subprocess.run(["timeout", "120", "git", "clone", "-q", "--depth", "1", "--branch", suite.unpack, suite.source, folder],
                                        check=False, capture_output=True)
                if cloned.returncode != 0:
                    return f"no source package has it, and {suite.source} cannot be reached: put {suite.unpack} of it into {folder}"
        elif suite.source:
            # Where parts of a source package are gone from the mirror, the archive itself mostly comes all the same.
            subprocess.run(["apt-get", "-qq", "source", "--download-only", suite.source], cwd=self.folder, check=False, capture_output=True)
            archives = sorted(p for p in self.folder.glob(suite.unpack) if "orig-" not in p.name)
            if not archives:
                return f"the source of {suite.source} cannot be fetched"
            subprocess.run(["tar", "-xf", archives[-1], "-C", folder, "--strip-components=1", "--no-same-owner"], check=True)
        ran = subprocess.run(["bash", "-c", suite.prepare], cwd=folder, check=False, capture_output=True, timeout=20 * MINUTES)
        if ran.returncode != 0:
            return f"cannot be prepared: {ran.stderr.decode(errors='replace').strip().splitlines()[-1:]}"
        (folder / ".prepared").touch()
        return folder

    def once(self, suite: Suite, folder: pathlib.Path, mode: str, lines: list[str]) -> Result:
        environment = {**self.runner.environment(folder), "HOME": str(self.runner.top), **self.runner.variables(mode)}
        log = self.folder / f"{suite.name}-{mode}.log"
        with open(log, "wb") as out:
            process = self.runner.running = subprocess.Popen(self.runner.command(mode, lines, ["bash", "-c", suite.run]), cwd=folder, env=environment,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
            status = self.runner.ended(process, 40 * MINUTES)
        text = log.read_text(errors="replace")
        failed = {next(group for group in match.groups() if group) for match in re.finditer(suite.failed, text, re.M)}
        counts = re.findall(suite.total, text, re.M)
        total = sum(int(c.replace(",", "")) for c in counts) if counts and counts[0].replace(",", "").isdigit() else len(counts)
        return Result(status, failed, total)

    def plain(self, suite: Suite, folder: pathlib.Path, known: dict) -> Result:
        """What fails of it without TraceBack, and the files that it uses; known for good once it has been found out."""
        if "plain" not in known:
            self.runner.listing("observed")
            ran = self.once(suite, folder, "observed", [])
            used = self.runner.paths_observed()
            own = {str(path) for pattern in suite.paths for path in folder.glob(pattern)}
            known["used"] = sorted(path for path in {*used, *own} if (path in own or not path.startswith(str(self.folder))) and is_elf(path)
                                   and not LEFT_OUT.search(path))
            known["plain"] = {"status": ran.status, "failed": sorted(ran.failed), "total": ran.total}
        return Result(known["plain"]["status"], set(known["plain"]["failed"]), known["plain"]["total"])

    def compared(self, suite: Suite, folder: pathlib.Path, plain: Result, mode: str, lines: list[str]) -> tuple[Result, str]:
        """In a mode, and why that is not as good as plain. Either may be unsteady by itself, so each has a second try."""
        try:
            other = self.once(suite, folder, mode, lines)
        except Late:
            other = self.once(suite, folder, mode, lines)

        def why(failed: set[str], *plains: Result) -> str:
            new = failed.difference(*(p.failed for p in plains))
            if new:
                return f"new failures: {', '.join(sorted(new))}"
            if other.status not in {p.status for p in plains}:
                return f"exit status {other.status}"
            least = min(p.total - (len(p.failed) if len(plains) == 1 else 0) for p in plains)
            return "" if other.total >= least else f"{other.total} tests of {least}"
        if not why(other.failed, plain):
            return other, ""
        again = self.once(suite, folder, "plain", [])
        if not why(other.failed, plain, again):
            return other, ""
        first, other = other, self.once(suite, folder, mode, lines)
        return other, why(other.failed & first.failed, plain, again)

    def judge(self, suite: Suite, state: State, modes: list[str], again: bool) -> list[str]:
        """Runs what has not passed yet; what to say about it."""
        known = state.of("suites", suite.name, repr(suite))
        if again:
            known["modes"] = {}
        known.pop("skipped", None)
        due = [mode for mode in modes if known["modes"].get(mode, {}).get("why", "not run")]
        if not due:
            return []
        try:
            folder = self.unpacked(suite)
            if isinstance(folder, str):
                known["skipped"] = folder
                return [f"{suite.name}: skipped: {folder}"]
            plain = self.plain(suite, folder, known)
        except TROUBLE as failure:
            for mode in due:
                state.note(known, mode, f"plain: {failure}", total=0, failed=[], files=0, alone=[])
            return [f"{suite.name}: plain: FAILED: {failure}"]
        said = [f"{suite.name}: plain: {plain.total} tests, {len(plain.failed)} failed, exit status {plain.status}"]
        for mode in due:
            self.runner.trapped()
            try:
                lines, alone = self.runner.bound(known["used"], mode)
                other, why = self.compared(suite, folder, plain, mode, lines)
            except TROUBLE as failure:
                lines, alone, other, why = [], [], Result(-1, set(), 0), str(failure)
            if why:
                why += self.runner.traps()
            state.note(known, mode, why, total=other.total, failed=sorted(other.failed), files=len(lines), alone=alone)
            said.append(f"{suite.name}: {mode}: {other.total} tests, {len(other.failed)} failed, exit status {other.status}; {len(lines)} files "
                        f"instrumented, {len(alone)} left alone" + (f"; FAILED: {why}" if why else ""))
        return said
