"""Threads, libraries and children that come and go (programs/churning.c): the same results as plain, nothing grows, no thread is lost."""

import os
import pathlib
import signal
import subprocess

import watch
from scenario import Place, Snap, Soak, opened, snapped

ROUNDS, THREADS, FORKS, LIBRARIES, WORKERS, OPENINGS = 20, 500, 50, 20, 100, 12  # the last two as in churning.c
HERE = pathlib.Path(__file__).parent
CALL = b'"kind":"call"', b'"function":"moduleValue"'


def compiled(place: Place) -> tuple[pathlib.Path, list[pathlib.Path]]:
    """The program and its libraries."""
    def compile_to(to: pathlib.Path, source: str, *options: str) -> pathlib.Path:
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-g", *options, "-o", to, HERE / "programs" / source], check=True)
        return to
    plain = place.top / "plain"
    plain.mkdir()
    return (compile_to(plain / "churning", "churning.c", "-pthread"),
            [compile_to(plain / f"libmodule{i}.so", "module.c", "-shared", "-fPIC", f"-DMODULE={i}") for i in range(LIBRARIES)])


def instrumented(place: Place, files: list[pathlib.Path], folder: pathlib.Path) -> str:
    """All of them want the same codes, for none knows of the others: the runtime has to move them. What went wrong."""
    folder.mkdir()
    for path in files:
        bases, to = place.top / f"{path.name}.bases", folder / path.name
        bases.write_text(f"0x10000 0x100000 {to}\n")
        made = place.traceback("instrument", str(path), "-o", str(to), "--code-bases", str(bases))
        if made.returncode != 0:
            return f"instrument ends with {made.returncode}: {made.stderr}"
        if bases.read_text().count("\n") != 1:
            return f"{path.name} has other codes than it was told to have"
    return ""


class Churning:
    """The program, as it goes from round to round."""

    def __init__(self, place: Place, program: pathlib.Path, libraries: list[pathlib.Path], variables: dict[str, str]):
        self.errors = place.top / "errors"
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen([program, str(ROUNDS), str(THREADS), str(FORKS), *libraries], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=errors, env={**place.environment(), **variables}, text=True)

    def round(self) -> str:
        """The round's line; the process then rests, until it is told to go on."""
        return self.process.stdout.readline().strip()

    def go_on(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def ended(self) -> str:
        """How, if it has."""
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            return "said nothing"
        return f"ended with {status}: {self.errors.read_text(errors='replace').strip()[-400:]}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def lost(snap: Snap, tids: set[int], what: str) -> list[str]:
    """What it lacks of the threads that rest; and of the calls that they made of the libraries, for each of their rings holds all."""
    problems = [f"{what}: {problem}" for problem in snap.problems]
    if missing := tids - snap.threads.keys():
        problems.append(f"{what}: {len(missing)} of {len(tids)} threads are lost")
    calls = ROUNDS * WORKERS * OPENINGS
    if not snap.problems and snap.matches != calls:
        problems.append(f"{what}: {snap.matches} of {calls} calls of libraries are recorded")
    return problems


def run(soak: Soak, known: dict, save) -> dict:
    known = {"rounds": 0, "samples": [], "problems": []}
    with Place(soak, "churn") as place:
        program, libraries = compiled(place)
        expected = Churning(place, program, libraries, {})
        sums = []
        for _ in range(ROUNDS):
            sums.append(expected.round())
            expected.go_on()
        expected.kill()

        folder = place.top / "recorded"
        if wrong := instrumented(place, [program, *libraries], folder):
            known["problems"].append(wrong)
            return known
        names = [folder / library.name for library in libraries]
        churning = Churning(place, folder / program.name, names, {"TRACEBACK_SNAP_DIR": str(place.snaps)})
        try:
            pid = churning.process.pid
            for number in range(ROUNDS):
                said = churning.round()
                if said != sums[number]:
                    known["problems"].append(f"round {number}: {said or churning.ended()}, not {sums[number]}")
                    return known
                known["samples"].append(watch.sample(watch.family(pid), place.rings))
                known["rounds"] = number + 1
                save(known)
                soak.say(f"churn: round {number + 1} of {ROUNDS}: {known['samples'][-1]}")
                if number + 1 == ROUNDS:
                    break
                churning.go_on()
            known["problems"] += watch.growth(known["samples"])
            tids = {int(path.name) for path in pathlib.Path(f"/proc/{pid}/task").iterdir()}
            known["problems"] += lost(snapped(place, pid, CALL), tids, "snap")
        finally:
            churning.process.send_signal(signal.SIGKILL)
            churning.kill()
        for path in place.snaps.glob("*.tbsnap"):
            path.unlink()
        recovered = place.traceback("recover", "--snap-dir", str(place.snaps))
        snaps = list(place.snaps.glob("*.tbsnap"))
        if recovered.returncode != 0 or len(snaps) != 1:
            known["problems"].append(f"recover ends with {recovered.returncode} and {len(snaps)} snaps instead of one: {recovered.stderr.strip()}")
        for path in snaps:
            known["problems"] += lost(opened(place, path, CALL), tids, "recovered")
        if left := list(place.rings.rglob("*.ring")):
            known["problems"].append(f"{len(left)} rings stay behind")
    return known


def told(known: dict) -> str:
    """Markdown."""
    return (f"{known['rounds']} rounds, each with {WORKERS} threads that load and unload {LIBRARIES} libraries, {THREADS} short-lived threads, "
            f"{FORKS} children.\n\n" + (watch.table(known["samples"]) if known["samples"] else ""))
