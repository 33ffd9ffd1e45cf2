"""kill -9 at random moments (tests/truth/tst_kill.cpp): a thousand, in batches with a seed each."""

import os
import re
import subprocess

from scenario import Soak

BATCHES, EACH = 20, 50
ROW = re.compile(r"^(PASS  |FAIL!)[^(]*\(\d+: (\d+) threads, .*$\n?(?:   Loc:|(.*))", re.M)


def run(soak: Soak, known: dict, save) -> dict:
    known = {"batches": 0, "kills": {}, "problems": [], **known}
    test = soak.programs / "tests" / "tst_kill"
    logs = soak.state / "kills"
    logs.mkdir(exist_ok=True)
    while known["batches"] < BATCHES:
        seed = known["batches"] + 1
        environment = {**os.environ, "TRACEBACK_SEED": str(seed), "TRACEBACK_KILLS": str(EACH), "QTEST_FUNCTION_TIMEOUT": "3000000"}
        ran = subprocess.run([test], env=environment, capture_output=True, text=True, errors="replace", check=False)
        for how, threads, _ in ROW.findall(ran.stdout):
            counts = known["kills"].setdefault(threads, [0, 0])
            counts[0] += 1
            counts[1] += how == "FAIL!"
        if ran.returncode != 0:
            (logs / f"{seed}.log").write_text(ran.stdout + ran.stderr)
            first = re.search(r"^FAIL!.*\n?.*", ran.stdout, re.M)
            known["problems"].append(f"seed {seed}: {first[0] if first else f'ends with {ran.returncode}'} (kills/{seed}.log)")
        known["batches"] = seed
        save(known)
        soak.say(f"kills: {seed * EACH} of {BATCHES * EACH}, {len(known['problems'])} batches with failures")
    return known


def told(known: dict) -> str:
    """Markdown."""
    rows = "".join(f"| {threads} | {done} | {failed} |\n" for threads, (done, failed) in sorted(known["kills"].items(), key=lambda each: int(each[0])))
    return f"| threads | kills | of which something was lost or torn |\n|---|---|---|\n{rows}"
