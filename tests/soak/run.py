#!/usr/bin/env python3
"""Everything again and again: the tests in other orders and with other seeds, until the time is up.

Each round runs all tests in a random order, with TRACEBACK_SEED set for those that make inputs by chance, and
TRACEBACK_SOAK set for those that then try harder. A failure is kept with its round's output and the soak goes on. It can
be stopped at any time; the next one goes on with the next round.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time


def main() -> int:
    parser = argparse.ArgumentParser(prog="./check soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--only", help="regular expression: only tests of these names")
    parser.add_argument("--again", action="store_true", help="forget earlier rounds")
    parser.add_argument("--programs", type=pathlib.Path, default="build/release", help=argparse.SUPPRESS)
    parser.add_argument("--state", type=pathlib.Path, default="build/check/soak", help=argparse.SUPPRESS)
    options = parser.parse_args()

    options.state.mkdir(parents=True, exist_ok=True)
    file = options.state / "state.json"
    state = json.loads(file.read_text()) if file.exists() and not options.again else {"rounds": 0, "failed": []}
    print("soak: building the tests", flush=True)
    built = subprocess.run(["cmake", "--build", options.programs], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        print(built.stdout[-4000:])
        return 1

    end = time.monotonic() + 60 * options.minutes
    while time.monotonic() < end:
        number = state["rounds"] + 1
        command = ["ctest", "--test-dir", str(options.programs), "--schedule-random", "--output-on-failure"]
        if options.only:
            command += ["-R", options.only]
        ran = subprocess.run(command, capture_output=True, text=True, check=False,
                             env={**os.environ, "TRACEBACK_SEED": str(number), "TRACEBACK_SOAK": "1"})
        summary = next((line for line in ran.stdout.splitlines() if "tests passed" in line), "no tests ran")
        print(f"soak: round {number}: {summary}", flush=True)
        if ran.returncode != 0:
            state["failed"].append(number)
            (options.state / f"round-{number}.log").write_text(ran.stdout + ran.stderr)
        state["rounds"] = number
        file.write_text(json.dumps(state))

    print(f"soak: {state['rounds']} rounds, {len(state['failed'])} with failures"
          + (f": {', '.join(map(str, state['failed']))} ({options.state}/round-N.log)" if state["failed"] else ""))
    return 1 if state["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
