#!/usr/bin/env python3
"""Everything for longer than a test may take.

kills     kill -9 at random moments in programs of 1, 8 and 200 threads, 1,000 times: what each thread had written is there, and whole
churn     a hundred threads, thousands that come and go, twenty libraries that want the same codes loaded and unloaded by all of them, a
          thousand forks: nothing grows, no thread is lost
nginx     under load, with a snap of each process every minute: no request fails, nothing grows, each snap opens cleanly
redis     the same
tests     all tests in other orders and with other seeds, round after round: TRACEBACK_SEED is set for those that make inputs by
          chance, and TRACEBACK_SOAK for those that then try harder

All of them, if none is named. nginx and redis take --minutes at the same time, tests as long again. What has passed counts for one build of the
programs. A soak that was stopped goes on: kills and churn with what they have not done, tests with the next round, a server's
load from its beginning. What it comes to is written to report.md and report.json in the state folder.
"""

import argparse
import copy
import pathlib
import sys
import threading

HERE = pathlib.Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent / "corpus")]
import churn  # noqa: E402
import kills  # noqa: E402
import load  # noqa: E402
import report  # noqa: E402
import rounds  # noqa: E402
from scenario import Soak  # noqa: E402
from state import State, alone_in, build_of, commit_of, end_when_told  # noqa: E402

SCENARIOS = {"kills": kills, "churn": churn, "nginx": load, "redis": load, "tests": rounds}


def perform(soak: Soak, state: State, name: str) -> dict | None:
    """What is known of it, once it has run; or from before, if it has passed. None if it was stopped."""
    known = state.of("soak", name, f"{soak.minutes} minutes" if name in load.LOADS else name)
    if known["modes"].get("whole", {}).get("why", "not run") == "" and not soak.again and name != "tests":
        soak.say(f"{name}: has passed with this build")
        return known["modes"]["whole"]["result"]

    def save(so_far: dict) -> None:
        with state.lock:  # a copy, for what it is of goes on changing
            known["so far"] = {} if so_far.get("done") else copy.deepcopy({"build": state.build, **so_far})
        state.save()

    so_far = known.get("so far", {})
    arguments = [soak, name, save] if SCENARIOS[name] is load else [soak, {} if soak.again or so_far.get("build") != state.build else so_far, save]
    said = SCENARIOS[name].run(*arguments)
    if soak.stopped.is_set():
        return None
    save({"done": True} if name != "tests" else said)
    state.note(known, "whole", "; ".join(said["problems"]), result=said)
    soak.say(f"{name}: {'FAILED: ' + said['problems'][0] if said['problems'] else 'passed'}")
    return said


def main() -> int:
    parser = argparse.ArgumentParser(prog="./check soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", action="append", choices=SCENARIOS, help="this one; may be repeated")
    parser.add_argument("--minutes", type=float, default=60, help="how long the load lasts, not counting what is checked in between, and the rounds of tests (60)")
    parser.add_argument("--again", action="store_true", help="also what has passed already with this build")
    parser.add_argument("--tests", metavar="REGEX", default="", help="in the rounds of tests: those of these names only")
    parser.add_argument("--programs", type=pathlib.Path, default="build/release", help=argparse.SUPPRESS)
    parser.add_argument("--state", type=pathlib.Path, default="build/check/soak", help=argparse.SUPPRESS)
    options = parser.parse_args()
    held = alone_in(options.state)  # noqa: F841
    end_when_told()
    soak = Soak(options.programs.resolve(), options.state.resolve(), options.minutes, options.again, options.tests)
    state = State(options.state / "state.json", build_of(soak.programs), commit_of(HERE))

    chosen = [name for name in SCENARIOS if name in (options.only or SCENARIOS)]
    results: dict[str, dict] = {}

    def in_turn(names: list[str]) -> None:
        for name in names:
            said = perform(soak, state, name)
            if said is None:
                return
            results[name] = said
            report.write(soak, state, {each: results[each] for each in SCENARIOS if each in results}, SCENARIOS)

    in_turn([name for name in chosen if name in ("kills", "churn")])
    # Threads that the end of this program does not wait for: servers are stopped then.
    together = [threading.Thread(target=in_turn, args=([name],), daemon=True) for name in chosen if name in load.LOADS]
    try:
        for thread in together:
            thread.start()
        for thread in together:
            thread.join()
    except KeyboardInterrupt:
        soak.stop()
        raise
    in_turn([name for name in chosen if name == "tests"])
    print(report.text(state, {name: results[name] for name in chosen}, SCENARIOS))
    return 1 if any(result["problems"] for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
