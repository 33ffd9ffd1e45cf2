"""kill -9 at random moments (tests/truth/tst_kill.cpp): a thousand that could be verified, in batches with a seed each.

What a busy machine did not come to in time is told apart from what was lost or torn, and others take its place."""

import os
import re
import subprocess

from scenario import Soak

KILLS, EACH = 1000, 50
MOST_LATE = 100
ROW = re.compile(r"^(PASS  |FAIL!)[^(]*\(\d+: (\d+) threads, [^)]*\)(.*)$", re.M)
LATE = "not verified: "  # as tst_kill says it


def run(soak: Soak, known: dict, save) -> dict:
    known = {"batches": 0, "kills": {}, "late": 0, "problems": [], **known}
    test = soak.programs / "tests" / "tst_kill"
    logs = soak.state / "kills"
    logs.mkdir(exist_ok=True)
    while (verified := sum(done for done, _ in known["kills"].values())) < KILLS and known["late"] <= MOST_LATE:
        seed = known["batches"] + 1
        environment = {**os.environ, "TRACEBACK_SEED": str(seed), "TRACEBACK_KILLS": str(EACH), "QTEST_FUNCTION_TIMEOUT": "3000000"}
        ran = subprocess.run([test], env=environment, capture_output=True, text=True, errors="replace", check=False)
        failed = [f"{row[0]}{row[2]}" for row in ROW.finditer(ran.stdout) if row[1] == "FAIL!" and LATE not in row[3]]
        late = sum(LATE in row[3] for row in ROW.finditer(ran.stdout))
        for how, threads, said in ROW.findall(ran.stdout):
            counts = known["kills"].setdefault(threads, [0, 0])
            counts[0] += LATE not in said
            counts[1] += how == "FAIL!" and LATE not in said
        known["late"] += late
        if ran.returncode != 0:
            (logs / f"{seed}.log").write_text(ran.stdout + ran.stderr)
        # The exit status is the number of failures; anything else is of the test itself.
        if failed or ran.returncode != late:
            known["problems"].append(f"seed {seed}: {failed[0] if failed else f'ends with {ran.returncode}'} (kills/{seed}.log)")
        known["batches"] = seed
        save(known)
        soak.say(f"kills: {sum(done for done, _ in known['kills'].values())} of {KILLS}, {len(known['problems'])} batches with failures, {known['late']} not verified in time")
    if verified < KILLS:
        known["problems"].append(f"only {verified} of {KILLS} could be verified: the machine is too busy")
    return known


def told(known: dict) -> str:
    """Markdown."""
    rows = "".join(f"| {threads} | {done} | {failed} |\n" for threads, (done, failed) in sorted(known["kills"].items(), key=lambda each: int(each[0])))
    late = f"\n{known['late']} more could not be verified in time.\n" if known.get("late") else ""
    return f"| threads | kills | of which something was lost or torn |\n|---|---|---|\n{rows}{late}"
