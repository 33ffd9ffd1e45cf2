"""The whole corpus: all jobs of jobs/, each until it has passed in every mode; then servers, suites, coverage, and a check of
every file that was written."""

import fnmatch
import os
import sys
import time

import coverage
import narrow
import servers
import suites
import table
from checks import SECONDS_PER_MEGABYTE, Checks
from jobs import Script, scripts
from objects import Objects
from pool import Clock, Pool
from runner import HERE, TROUBLE, Runner, goes_by_run, make_inputs
from state import State, alone_in, build_of, commit_of

MODES = ("null", "probes", "poison")
OTHER_MODES = ("profile",)  # only if they are asked for
SECONDS_PLAIN, SECONDS_MODE = 2.5, 2.0  # for a job, two at once, with its share of the instrumenting
WRITTEN_MEGABYTES = {"null": 5000, "probes": 9500, "poison": 5500, "profile": 9500}  # by all jobs
SLOWER = 1.4  # a suite, instrumented
NARROWING_SECONDS, ALL_NARROWING_SECONDS = 240, 1200


def result_name(mode: str, way: str) -> str:
    """What a job's result in a mode is kept as: what passes by one way says nothing of the other."""
    return f"{mode} by run" if goes_by_run(mode, way) else mode


def steady(job: Script, runner: Runner, known: dict):
    """Finds out by three plain runs whether it is steady, if that is not known; the last plain run."""
    if "used" in known:
        return None
    used = runner.observed(job)[1]
    plain, unsteady = runner.run(job, "plain"), None
    for _ in range(2):
        unsteady = unsteady or plain.difference(runner.run(job, "plain"))
    known.update(used=used, unsteady=unsteady, seconds=round(plain.seconds, 2))
    return plain


def judge(job: Script, runner: Runner, state: State, modes: list[str]) -> list[str]:
    """Runs what has not passed yet; what to say about it."""
    known = state.of("jobs", job.key, job.text)
    plain = steady(job, runner, known)
    if known["unsteady"]:
        return [f"not counted: {known['unsteady']}"]
    said = []
    for mode in modes:
        name = result_name(mode, runner.way)
        if known["modes"].get(name, {}).get("why", "not run") == "":
            continue
        plain = plain or runner.run(job, "plain")
        runner.trapped()
        try:
            lines, alone = ([], []) if goes_by_run(mode, runner.way) else runner.bound(known["used"], mode)
            difference = plain.difference(runner.run(job, mode, lines, 60 + 30 * plain.seconds))
        except TROUBLE as failure:
            alone, difference = [], str(failure)
        if difference and (again := plain.difference(runner.run(job, "plain"))):
            known["unsteady"] = again
            return [f"not counted: {again}"]
        if difference:
            difference += runner.traps()
        state.note(known, name, difference or "", alone=alone)
        said.append(f"{mode}: {difference or 'the same'}")
    return said


class Whole:
    """One run, stage by stage. All that it comes to is in the state."""

    def __init__(self, options, state: State, objects: Objects, pool: Pool):
        self.options, self.state, self.objects, self.pool, self.clock = options, state, objects, pool, Clock()
        self.checks = Checks(options.programs.resolve() / "bin" / "truth_second_decoder", options.state)
        self.modes = [] if options.plain else options.mode or list(MODES)

    def say(self, text: str) -> None:
        print(f"corpus: {text}; {self.clock}", flush=True)

    def run_jobs(self, jobs: list[Script]) -> None:
        if self.options.again:
            for job in jobs:
                for mode in self.modes:
                    self.state.of("jobs", job.key, job.text)["modes"].pop(result_name(mode, self.options.way), None)
        cost = SECONDS_PLAIN + SECONDS_MODE * len(self.modes)

        def work(runner: Runner, item: tuple[int, Script]) -> None:
            number, job = item
            known = self.state.of("jobs", job.key, job.text)
            known.pop("trouble", None)
            try:
                said = judge(job, runner, self.state, self.modes)
            except TROUBLE as failure:
                known["trouble"] = str(failure)
                said = [f"not run: {failure}"]
            self.state.save()
            self.clock.done(cost, not said)
            if said:
                self.say(f"job {number} of {len(jobs)}, {job.key}: {'; '.join(said)}")

        self.pool.each(enumerate(jobs, 1), work)

    def run_narrow(self, jobs: list[Script]) -> None:
        """Cuts each failure down to a function, for as long as that may take."""
        def result_of(job: Script, mode: str) -> dict:
            return self.state.of("jobs", job.key, job.text)["modes"].get(result_name(mode, self.options.way), {})

        failed = [(job, mode) for job in jobs for mode in self.modes if (result := result_of(job, mode)).get("why") and "culprit" not in result]
        end = time.monotonic() + ALL_NARROWING_SECONDS
        self.clock.plan(min(ALL_NARROWING_SECONDS, len(failed) * NARROWING_SECONDS / 4))

        def work(runner: Runner, item: tuple[Script, str]) -> None:
            job, mode = item
            if (left := end - time.monotonic()) <= 0:
                return
            try:
                found = narrow.narrowed(job, runner, mode, min(NARROWING_SECONDS, left))
            except TROUBLE as failure:
                found = f"not cut down: {failure}"
            result_of(job, mode)["culprit"] = found
            self.state.save()
            self.clock.done(NARROWING_SECONDS / 4)
            self.say(f"{job.key}: {mode}: {found}")

        self.pool.each(failed, work)

    def run_files(self) -> None:
        """All that were written, by whatever stage; the largest first, lest one core wait for them at the end."""
        written = sorted(self.objects.written(), key=lambda one: -os.path.getsize(one[2]))
        todo = [one for one in written if not self.checks.known_already(one[1], one[2])]

        def work(runner: Runner, item: tuple[int, tuple]) -> None:
            number, (mode, original, copy) = item
            try:
                said = Checks.wrong(self.checks.check(original, copy, mode))
            except TROUBLE as failure:
                said = f"not checked: {failure}"
            self.clock.done(SECONDS_PER_MEGABYTE * os.path.getsize(copy) / 1e6)
            if said or number % 100 == 0:
                self.say(f"file {number} of {len(todo)}, {original}, {mode}: {said or 'all right'}")

        self.pool.each(enumerate(todo, 1), work)

    def run_servers(self) -> None:
        for server in self.chosen(servers.SERVERS):  # one at a time: load and server take a core each
            def work(runner: Runner, one: servers.Server) -> None:
                said = servers.judge(one, runner, self.state, self.modes, self.options.again)
                self.clock.done(servers.SECONDS * (1 + len(self.modes)), not said)
                for line in said:
                    self.say(line)

            self.pool.each([server], work)

    def run_suites(self) -> None:
        def work(runner: Runner, suite: suites.Suite) -> None:
            said = suites.Suites(runner, self.options.state).judge(suite, self.state, self.modes, self.options.again)
            self.state.save()
            self.clock.done(self.cost(suite), not said)
            for line in said:
                self.say(line)

        self.pool.each(sorted(self.chosen(suites.SUITES), key=lambda suite: -suite.seconds), work)

    def run_coverage(self) -> None:
        def work(runner: Runner, name: str) -> None:
            self.say(coverage.judge(name, runner, self.state, self.options.again))
            self.clock.done(coverage.SECONDS / self.options.jobs)

        self.pool.each(self.chosen(coverage.PROGRAMS), work)

    def chosen(self, things) -> list:
        """Those that --only names, if anything."""
        return [thing for thing in things if not self.options.only or getattr(thing, "name", thing) in self.options.only]

    def cost(self, suite: suites.Suite) -> float:
        return suite.seconds * (1 + SLOWER * len(self.modes)) / self.options.jobs

    def run(self, stages: list[str], jobs: list[Script]) -> None:
        if "jobs" in stages:
            self.clock.plan(len(jobs) * (SECONDS_PLAIN + SECONDS_MODE * len(self.modes)))
            share = len(jobs) / len(scripts())
            self.clock.plan(SECONDS_PER_MEGABYTE * share * sum(WRITTEN_MEGABYTES[mode] for mode in self.modes))
        if "servers" in stages:
            self.clock.plan(servers.SECONDS * (1 + len(self.modes)) * len(self.chosen(servers.SERVERS)))
        if "suites" in stages:
            self.clock.plan(sum(self.cost(suite) for suite in self.chosen(suites.SUITES)))
        if "coverage" in stages:
            self.clock.plan(coverage.SECONDS * len(self.chosen(coverage.PROGRAMS)) / self.options.jobs)
        for stage in stages:
            print(f"corpus: {stage}", flush=True)
            if stage == "jobs":
                self.run_jobs(jobs)
                self.run_narrow(jobs)
            else:
                getattr(self, f"run_{stage}")()
            self.run_files()


def stages_of(options) -> list[str]:
    chosen = [stage for stage in ("servers", "suites", "coverage") if getattr(options, stage)]
    if chosen:
        return chosen
    return ["jobs"] if options.only or options.mode or options.plain else ["jobs", "servers", "suites", "coverage"]


def main(options) -> int:
    stages = stages_of(options)
    jobs = [job for job in scripts() if not options.only or any(fnmatch.fnmatch(job.key, pattern) for pattern in options.only)]
    if options.list or ("jobs" in stages and not jobs) or options.bisect not in {None, *(job.key for job in scripts())}:
        print("\n".join(job.key for job in (jobs if options.list else scripts())))
        return 0 if options.list else 2
    options.state = options.state.resolve()
    held = alone_in(options.state)  # noqa: F841
    make_inputs(options.state)
    build = build_of(options.programs)
    state = State(options.state / "state.json", build, commit_of(HERE))
    objects = Objects(options.programs.resolve() / "bin" / "traceback", options.state, build)
    print(f"corpus: build {build} of commit {state.commit}", flush=True)
    try:
        with Pool(1 if options.bisect else options.jobs, lambda: Runner(objects, options.state, options.programs, options.way)) as pool:
            if options.bisect:
                job = next(job for job in scripts() if job.key == options.bisect)
                return narrow.main(job, pool.all[0], (options.mode or ["probes"])[0])
            whole = Whole(options, state, objects, pool)
            whole.run(stages, jobs)
            return table.write(options.state, state, objects, whole.checks, [] if options.plain else [*MODES, *(mode for mode in OTHER_MODES if mode in whole.modes)])
    except KeyboardInterrupt:
        print("corpus: stopped; the same command goes on from here", file=sys.stderr)
        return 130
