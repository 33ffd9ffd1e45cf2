#!/usr/bin/env python3
"""What the corpus' runs rest on: signals, other users' processes, times and what is known already.

    test_runner.py --programs FOLDER --folder FOLDER     FOLDER: of the build; and one to work in
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import of_build  # noqa: E402
from checks import Checks  # noqa: E402
from jobs import Script  # noqa: E402
from objects import Objects  # noqa: E402
from runner import Late, Runner  # noqa: E402
from state import State, alone_in, build_of  # noqa: E402
from table import Report  # noqa: E402
from whole import judge, result_name  # noqa: E402

IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGUSR1)


class Running(of_build.OfBuild):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)
        (cls.folder / "state" / "inputs").mkdir(parents=True)

    def runner(self, way: str = "bound") -> Runner:
        runner = Runner(Objects(self.programs / "bin" / "traceback", self.folder / "state", "one"), self.folder / "state", self.programs, way)
        self.addCleanup(runner.close)
        return runner

    def test_children_of_a_run_in_the_background_ignore_nothing(self):
        show = "import run, subprocess; run.take_signals(); subprocess.run(['grep', '-E', 'Sig(Ign|Blk)', '/proc/self/status'])"

        def ignore():
            for number in IGNORED:
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

        said = subprocess.run([sys.executable, "-c", show], cwd=HERE, preexec_fn=ignore, check=True, capture_output=True, text=True).stdout
        self.assertEqual(said.split(), ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16])

    def test_an_interrupt_ends_a_run_in_the_background(self):
        show = "import run, signal; run.take_signals(); signal.raise_signal(signal.SIGHUP); signal.raise_signal(signal.SIGINT)"
        ran = subprocess.run([sys.executable, "-c", show], cwd=HERE, preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN) for number in IGNORED],
                             check=False, capture_output=True, text=True)
        self.assertIn("KeyboardInterrupt", ran.stderr)

    def test_a_run_in_the_background_that_is_told_to_end_ends_as_by_an_interrupt(self):
        show = ("import os, signal, state; state.end_when_told()\n"
                "try: os.kill(os.getpid(), signal.SIGTERM); signal.pause()\n"
                "except KeyboardInterrupt: print('cleaned up')")
        said = subprocess.run([sys.executable, "-c", show], cwd=HERE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN), check=True,
                              capture_output=True, text=True).stdout
        self.assertEqual(said, "cleaned up\n")

    def test_a_report_tells_of_files_that_a_run_in_another_mode_wrote(self):
        state = self.folder / "reported"
        objects, checks = Objects(self.programs / "bin" / "traceback", state, "one"), Checks(self.programs / "bin" / "traceback", state)
        copy, _ = objects.copy("/usr/bin/gzip", "profile")
        original, of_copy = checks.of_original("/usr/bin/gzip"), checks.about(copy, copy.with_name(copy.name + ".digest"))
        checks.kept(original, list)
        checks.kept(f"{original}-{of_copy}", lambda: {"decoder": 0, "said": [], "lint": []})
        report = Report(State(state / "state.json", "one", "no commit"), objects, checks, ["null", "probes"])
        report.files()
        self.assertEqual(report.summary["files"], {"null": {}, "probes": {}, "profile": {"written": 1, "decoded": 1, "linted": 1}})
        self.assertEqual(report.failures, [])

    def test_a_report_shows_suites_and_servers_in_modes_of_other_runs_too(self):
        folder = self.folder / "shown"
        state = State(folder / "state.json", "one", "no commit")
        folder.mkdir()
        state.note(state.of("suites", "zlib", "text"), "poison", "", total=7, failed=[])
        state.all["suites"]["zlib"]["plain"] = {"total": 7, "failed": []}
        for mode in ("plain", "poison"):
            state.note(state.of("servers", "nginx", "text"), mode, "", said=f"well {mode}")
        report = Report(state, None, None, ["probes"])
        report.suites()
        report.servers()
        self.assertIn("| suite | tests | fail plain | fail: probes | fail: poison |", report.lines)
        self.assertIn("| zlib | 7 | 0 | not run | 0 of 7 |", report.lines)
        self.assertIn("| server | plain | probes | poison |", report.lines)
        self.assertIn("| nginx | well plain | not run | well poison |", report.lines)

    def test_another_user_finds_the_runtime(self):
        if os.getuid() != 0 or subprocess.run(["setpriv", "--reuid=65534", "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("only root can be another user")
        os.chmod(self.folder, 0o700)  # as the folders of a build may be
        runner = self.runner()
        shutil.copy("/usr/bin/gzip", runner.top / "gzip")
        gzip, job = str(runner.top / "gzip"), "setpriv --reuid=65534 --regid=65534 --clear-groups"
        script = Script("test", "other", f"run {job} {runner.top}/gzip -c < /etc/passwd | gzip -cd; run {job} grep -o libtraceback.so /proc/self/maps | sort -u\n")
        plain = runner.run(script, "plain")
        for mode in ("null", "probes", "poison", "profile"):
            with self.subTest(mode=mode):
                lines, alone = runner.bound([gzip, os.path.realpath("/usr/bin/grep")], mode)
                self.assertEqual(alone, [])
                ran = runner.run(script, mode, lines)
                self.assertEqual((ran.status, ran.err), (0, b""))
                self.assertEqual(ran.out, plain.out + b"libtraceback.so\n")
                self.assertEqual(runner.trapped(), [])

    def test_that_there_is_no_such_program_is_said_alike(self):
        runner = self.runner("run")
        job = Script("test", "missing", "run no-such-program; echo $?; run gzip --version\n")
        plain, ran = runner.run(job, "plain"), runner.run(job, "probes")
        self.assertIn(b"no-such-program: command not found", plain.err)
        self.assertIsNone(plain.difference(ran))

    def test_what_does_not_end_in_time_is_repeated_and_no_difference(self):
        runner = self.runner()
        tries = self.folder / "tries"
        job = Script("test", "late", f"echo x >> {tries}; [ $(wc -l < {tries}) = 2 ] || sleep 60\n")
        self.assertEqual(runner.run(job, "plain", limit=1).status, 0)
        with self.assertRaisesRegex(Late, "did not end within 4 s"):
            runner.run(job, "plain", limit=1)
        self.assertEqual(len(tries.read_text()), 2 * 4)

    def test_what_is_known_counts_for_the_programs_contents(self):
        build = self.folder / "build"
        for name in ("bin/traceback", "lib/libtraceback.so", "lib/libtraceback-audit.so"):
            (build / name).parent.mkdir(parents=True, exist_ok=True)
            (build / name).write_text(name)
        first = build_of(build)
        file = self.folder / "state.json"
        state = State(file, first, "commit 1")
        state.note(state.of("jobs", "a", "text"), "null", "")
        self.assertEqual(build_of(build), first)
        self.assertIn("null", State(file, build_of(build), "commit 2").of("jobs", "a", "text")["modes"])
        for name in ("bin/traceback", "lib/libtraceback.so", "lib/libtraceback-audit.so"):
            with self.subTest(changed=name):
                (build / name).write_text("another")
                self.assertNotEqual(build_of(build), first)
                self.assertEqual(State(file, build_of(build), "commit 2").of("jobs", "a", "text")["modes"], {})
                (build / name).write_text(name)

    def test_what_passed_by_one_way_is_still_run_by_the_other(self):
        ran = []

        class Plain:
            seconds = 0.0

            def difference(self, other):
                return None

        class Recorder:
            def __init__(self, way):
                self.way = way

            def observed(self, job):
                return "", []

            def run(self, job, mode, *more):
                ran.append((self.way, mode))
                return Plain()

            def trapped(self):
                pass

            def bound(self, used, mode):
                return [], []

        file = self.folder / "ways.json"
        file.unlink(missing_ok=True)
        state, job = State(file, "build", "commit"), Script("group", "name", "run true")
        for _ in range(2):
            for way in ("run", "bound"):
                judge(job, Recorder(way), state, ["probes"])
        self.assertEqual([one for one in ran if one[1] == "probes"], [("run", "probes"), ("bound", "probes")])

    def test_poisoned_copies_are_bound_by_either_way(self):
        runner = self.runner("run")
        self.assertIn("traceback run --null --", runner.function("null"))
        self.assertIn("traceback run -- ", runner.function("probes"))
        self.assertNotIn("traceback", runner.function("poison"))
        self.assertEqual(result_name("poison", "run"), result_name("poison", "bound"))

    def test_two_runs_do_not_share_a_folder(self):
        folder = self.folder / "held"
        another = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(HERE)!r}); import pathlib, state; held = state.alone_in(pathlib.Path({str(folder)!r})); print('mine', flush=True); input()"]
        first = subprocess.Popen(another, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with first:
            self.assertEqual(first.stdout.readline(), "mine\n")
            with self.assertRaisesRegex(SystemExit, f"another run is at work in {folder}"):
                alone_in(folder)
            first.kill()
        alone_in(folder).close()


if __name__ == "__main__":
    of_build.main()
