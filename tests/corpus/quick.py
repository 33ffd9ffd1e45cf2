"""The short form: some jobs of some programs, with what they load from short.py."""

import json
import shutil

from harness import MODES, Harness, hash_of
from short import JOBS


def main(options) -> int:
    jobs = [job for job in JOBS if not options.only or job.program in options.only or job.key in options.only]
    if options.list or not jobs:
        print("\n".join(job.key for job in JOBS))
        return 0 if options.list else 2

    scale, amount = 2, {"n": 16, "sql": 2, "bc": 60}
    options.state.mkdir(parents=True, exist_ok=True)
    harness = Harness(options.programs, options.state, scale, amount)
    passed_file = options.state / "passed-quick.json"
    # What has passed counts for one build of the programs only.
    build = hash_of(harness.traceback) + hash_of(harness.traceback.parent.parent / "lib" / "libtraceback.so")
    passed = json.loads(passed_file.read_text()) if passed_file.exists() and not options.again else {}
    if passed.get("build") != build:
        passed = {"build": build}

    failures, skipped = [], []
    for number, job in enumerate(jobs, 1):
        if not shutil.which(job.program):
            skipped.append(job.key)
            continue
        if passed.get(job.key):
            continue
        plain = harness.run(job, "plain")
        again = harness.run(job, "plain")
        if unsteady := plain.difference(again):
            print(f"corpus: {job.key}: cannot be compared, for it differs from run to run: {unsteady}")
            failures.append(job.key)
            continue
        wrong = []
        for mode in MODES:
            if difference := plain.difference(harness.run(job, mode)):
                wrong.append(f"{mode}: {difference}")
        print(f"corpus: [{number}/{len(jobs)}] {job.key}: {'; '.join(wrong) if wrong else 'the same'}", flush=True)
        if wrong:
            failures.append(job.key)
        else:
            passed[job.key] = True
            passed_file.write_text(json.dumps(passed, indent=1))
    harness.close()

    good = sum(1 for job in jobs if passed.get(job.key))
    programs = len({job.program for job in jobs if passed.get(job.key)})
    print(f"corpus: {good} of {len(jobs)} jobs of {programs} programs gave the same results in null mode and with probes")
    for name, why in harness.left_alone.items():
        print(f"corpus: {name} took part as it is: {why}")
    if skipped:
        print(f"corpus: not installed: {', '.join(skipped)}")
    if failures:
        print(f"corpus: FAILED: {', '.join(failures)}")
    return 1 if failures else 0

