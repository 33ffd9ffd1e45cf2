"""All tests, in other orders and with other seeds, until the time is up."""

import os
import subprocess
import time

from scenario import Soak


def run(soak: Soak, known: dict, save) -> dict:
    known = {"rounds": 0, "failed": [], "problems": [], **known}
    soak.say("tests: building them")
    built = subprocess.run(["cmake", "--build", soak.programs], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        known["problems"].append(f"they do not build: {built.stdout[-2000:]}")
        return known
    end = time.monotonic() + 60 * soak.minutes
    while time.monotonic() < end:
        number = known["rounds"] + 1
        command = ["ctest", "--test-dir", str(soak.programs), "--schedule-random", "--output-on-failure"]
        if soak.tests:
            command += ["-R", soak.tests]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "TRACEBACK_SEED": str(number), "TRACEBACK_SOAK": "1"})
        summary = next((line for line in ran.stdout.splitlines() if "tests passed" in line), "no tests ran")
        soak.say(f"tests: round {number}: {summary}")
        if ran.returncode != 0:
            known["problems"].append(f"round {number}: {summary} (round-{number}.log)")
            (soak.state / f"round-{number}.log").write_text(ran.stdout + ran.stderr)
        known["rounds"] = number
        save(known)
    return known


def told(known: dict) -> str:
    """Markdown."""
    return f"{known['rounds']} rounds.\n"
