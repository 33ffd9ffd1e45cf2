"""Cuts a failure down: first to the file, then to the function whose instrumentation makes the job fail.

Both by the same question: what is the least k for which the job passes when the first k are left out? The k-th is then a
culprit, and if there are several it is the last. Where breakpoints were met (poison mode), the functions that they are in
are asked about first.
"""

import dataclasses
import time
from collections.abc import Callable

import maps
from jobs import Script
from runner import Late, Runner


@dataclasses.dataclass
class Culprit:
    file: str
    function: maps.MappedFunction | None
    sole: bool  # leaving it out is enough
    runs: int  # that it took
    entered: int = 0  # the breakpoint's address, where one led to it

    def __str__(self) -> str:
        if self.function is None:
            return f"{self.file}, whatever function is left out"
        text = f"{self.function} in {self.file}"
        text += f" (its old code is entered at {self.entered:#x})" if self.entered else ""
        return text if self.sole else text + ", and others"


def last_culprit(count: int, passes_without: Callable[[int], bool]) -> int:
    """The index of the last of `count` things that makes it fail; `passes_without(k)`: with the first k left out."""
    low, high = 1, count
    while low < high:
        middle = (low + high) // 2
        if passes_without(middle):
            high = middle
        else:
            low = middle + 1
    return low - 1


class Narrowing:
    def __init__(self, job: Script, runner: Runner, mode: str, limit: float):
        self.job, self.runner, self.mode = job, runner, mode
        self.runs, self.deadline = 0, time.monotonic() + limit
        self.used = runner.observed(job)[1]
        self.plain = runner.run(job, "plain")

    def passes(self, choice: dict[str, tuple[str, ...]]) -> bool:
        """Only these files instrumented, each with further options."""
        if time.monotonic() > self.deadline:
            raise TimeoutError
        self.runs += 1
        self.runner.trapped()
        lines, _ = self.runner.bound(self.used, self.mode, choice)
        try:
            return self.plain.difference(self.runner.once(self.job, self.mode, lines, 60 + 30 * self.plain.seconds)) is None
        except Late:
            return False

    def at_breakpoints(self, met: list[tuple[str, int]]) -> Culprit | None:
        """Where leaving out the functions in which breakpoints were met is enough: one of them that is needed. Old code that is
        left alone may lead to further breakpoints."""
        places = []

        def passes_without(left_out: list) -> bool:
            choice = dict.fromkeys(self.used, ())
            for path, function, _ in left_out:
                choice[path] += (f"--exclude={function.number}",)
            return self.passes(choice)

        while True:
            known = len(places)
            for path, address in met:
                found = next((f for f in self.functions(path) if f.original <= address < f.original + f.size), None) if path in self.used else None
                if found is not None and not any(place[:2] == (path, found) for place in places):
                    places.append((path, found, address))
            if len(places) == known:
                return None
            if passes_without(places):
                break
            met = self.runner.trapped()
        needed = places[last_culprit(len(places), lambda k: passes_without(places[:k]))]
        sole = len(places) == 1 or passes_without([needed])
        path, function, address = needed if sole else places[0]
        return Culprit(path, function, sole, self.runs, address)

    def functions(self, path: str) -> list[maps.MappedFunction]:
        copy, _ = self.runner.objects.copy(path, self.mode)
        return maps.functions(copy) if copy else []

    def culprit(self) -> Culprit | None:
        """None if the job does not fail."""
        everything = dict.fromkeys(self.used, ())
        if self.passes(everything):
            return None
        if found := self.at_breakpoints(self.runner.trapped()):
            return found
        path = self.used[last_culprit(len(self.used), lambda k: self.passes(dict.fromkeys(self.used[k:], ())))]
        others = {path: ()} if not self.passes({path: ()}) else everything
        functions = [function for function in self.functions(path) if function.copy]

        def passes_without(first: int, last: int) -> bool:
            return self.passes({**others, path: (f"--exclude={first}-{last}",)})

        if not functions or not passes_without(0, functions[-1].number):
            return Culprit(path, None, True, self.runs)
        function = functions[last_culprit(len(functions), lambda k: passes_without(0, functions[k - 1].number))]
        return Culprit(path, function, passes_without(function.number, function.number), self.runs)


def narrowed(job: Script, runner: Runner, mode: str, limit: float) -> str:
    """The function that makes the job fail, or why it is not known."""
    narrowing = None
    try:
        narrowing = Narrowing(job, runner, mode, limit)
        found = narrowing.culprit()
    except TimeoutError:
        return f"not cut down within {limit:.0f} s: ./check corpus --bisect {job.key} --mode {mode}"
    return f"{found} (found in {found.runs} runs)" if found else "does not fail again"


def main(job: Script, runner: Runner, mode: str) -> int:
    found = narrowed(job, runner, mode, float("inf"))
    print(f"corpus: {job.key} in {mode}: {found}")
    return 0 if found == "does not fail again" else 1
