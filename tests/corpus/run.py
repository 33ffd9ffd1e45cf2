#!/usr/bin/env python3
"""No harm: real programs give the same results with TraceBack as without.

Each job of jobs.py runs plain, in null mode (copied code without probes) and with probes. Standard output, standard
error, exit status and all files must be the same.
"""

import argparse
import json
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from harness import MODES, Harness, hash_of  # noqa: E402
from jobs import JOBS  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="./check corpus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", nargs="*", help="programs or program.job to run (default: all)")
    parser.add_argument("--quick", action="store_true", help="small inputs, as in ./check test")
    parser.add_argument("--again", action="store_true", help="also what has passed already with this build")
    parser.add_argument("--list", action="store_true", help="name the jobs")
    parser.add_argument("--programs", type=pathlib.Path, default="build/release", help=argparse.SUPPRESS)
    parser.add_argument("--state", type=pathlib.Path, default="build/check/corpus", help=argparse.SUPPRESS)
    options = parser.parse_args()

    jobs = [job for job in JOBS if not options.job or job.program in options.job or job.key in options.job]
    if options.list or not jobs:
        print("\n".join(job.key for job in JOBS))
        return 0 if options.list else 2

    scale, amount = (2, {"n": 16, "sql": 2, "bc": 60}) if options.quick else (64, {"n": 27, "sql": 100, "bc": 1000})
    options.state.mkdir(parents=True, exist_ok=True)
    harness = Harness(options.programs, options.state, scale, amount)
    passed_file = options.state / ("passed-quick.json" if options.quick else "passed.json")
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


if __name__ == "__main__":
    sys.exit(main())
