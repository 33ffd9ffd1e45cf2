"""The whole corpus: all jobs of jobs/, each until it has passed in every mode."""

import concurrent.futures
import fnmatch
import hashlib
import json
import pathlib
import queue
import threading

import coverage
import narrow
import servers
import suites
import table
from jobs import Script, scripts
from objects import Objects
from runner import Runner, make_inputs

MODES = ("null", "probes", "poison")


class State:
    """What is known of each job, kept in a file: it goes on where it was stopped."""

    def __init__(self, file: pathlib.Path, build: str):
        self.file, self.build, self.lock = file, build, threading.Lock()
        self.jobs = json.loads(file.read_text()) if file.exists() else {}

    def of(self, job: Script) -> dict:
        """Its results; those in modes count for one build, the others for one text of the job."""
        text = hashlib.sha256(job.text.encode()).hexdigest()[:16]
        known = self.jobs.setdefault(job.key, {})
        if known.get("text") != text:
            known.clear()
            known.update(text=text)
        if known.get("build") != self.build:
            known.update(build=self.build, modes={})
        return known

    def save(self) -> None:
        with self.lock:
            self.file.write_text(json.dumps(self.jobs, indent=1))


def build_of(programs: pathlib.Path) -> str:
    files = (programs / "bin" / "traceback", programs / "lib" / "libtraceback.so")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def judge(job: Script, runner: Runner, known: dict, modes: list[str]) -> list[str]:
    """Runs what is not known yet; what to say about it."""
    plain = None
    if "used" not in known:
        known["used"] = runner.observed(job)[1]
        plain = runner.run(job, "plain")
        for _ in range(2):
            if known.get("unsteady") is None:
                known["unsteady"] = plain.difference(runner.run(job, "plain"))
        known["seconds"] = round(plain.seconds, 2)
    if known["unsteady"]:
        return [f"not counted: {known['unsteady']}"]
    said = []
    for mode in modes:
        if known["modes"].get(mode) == "":
            continue
        plain = plain or runner.run(job, "plain")
        lines, alone = runner.bound(known["used"], mode) if runner.way == "bound" or mode == "poison" else ([], [])
        difference = plain.difference(runner.run(job, mode, lines, 60 + 30 * plain.seconds))
        if difference and (again := plain.difference(runner.run(job, "plain"))):
            known["unsteady"] = again
            return [f"not counted: {again}"]
        if difference:
            difference += runner.traps()
        known["modes"][mode] = difference or ""
        known["alone"] = sorted({*known.get("alone", []), *alone})
        said.append(f"{mode}: {difference or 'the same'}")
    return said


def main(options) -> int:
    jobs = [job for job in scripts() if not options.only or any(fnmatch.fnmatch(job.key, pattern) for pattern in options.only)]
    if options.list or not (jobs or options.suites or options.servers or options.coverage):
        print("\n".join(job.key for job in jobs or scripts()))
        return 0 if options.list else 2
    modes = [] if options.plain else options.mode or list(MODES)
    options.state = options.state.resolve()
    options.state.mkdir(parents=True, exist_ok=True)
    make_inputs(options.state)
    build = build_of(options.programs)
    state = State(options.state / "whole.json", build)
    objects = Objects(options.programs.resolve() / "bin" / "traceback", options.state, build)
    if options.suites or options.servers or options.coverage or options.bisect:
        runner = Runner(objects, options.state, options.programs, options.way)
        try:
            if options.bisect:
                return narrow.main(next(job for job in scripts() if job.key == options.bisect), runner, modes[0])
            if options.coverage:
                return coverage.main(options, runner)
            return (suites if options.suites else servers).main(options, runner, modes)
        finally:
            runner.close()
    runners = queue.Queue()
    for _ in range(options.jobs):
        runners.put(Runner(objects, options.state, options.programs, options.way))
    if options.again:
        for job in jobs:
            state.of(job)["modes"] = {}

    def work(number: int, job: Script) -> None:
        runner = runners.get()
        try:
            said = judge(job, runner, state.of(job), modes)
            if said:
                print(f"corpus: [{number}/{len(jobs)}] {job.key}: {'; '.join(said)}", flush=True)
            state.save()
        finally:
            runners.put(runner)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for done in [pool.submit(work, number, job) for number, job in enumerate(jobs, 1)]:
            done.result()
    while not runners.empty():
        runners.get().close()
    return table.write(options.state, [(job, state.of(job)) for job in jobs], modes, objects)
