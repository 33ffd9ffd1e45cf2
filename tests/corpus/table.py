"""What a run of the corpus comes to, as Markdown and JSON."""

import collections
import json
import pathlib

import coverage
from checks import Checks
from jobs import scripts
from objects import LEFT_OUT, Objects, is_program, packages_by_file
from state import State

GOAL = 95.0  # per cent of functions


def rows(head: str, lines: list[tuple]) -> list[str]:
    """A table; none if it would be empty."""
    columns = head.count("|") + 1
    return [f"| {head} |", "|---" * columns + "|", *("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines), ""] if lines else []


class Report:
    def __init__(self, state: State, objects: Objects, checks: Checks, modes: list[str]):
        self.state, self.objects, self.checks, self.modes = state, objects, checks, modes
        self.failures: list[tuple[str, str, str, str]] = []  # of what, mode, why, function
        self.summary: dict[str, object] = {}
        self.lines: list[str] = []

    def of(self, kind: str) -> dict[str, dict]:
        """What is known of this build; of others only what plain runs are."""
        return {name: known if known.get("build") == self.state.build else {**known, "modes": {}} for name, known in self.state.all.get(kind, {}).items()}

    def shown(self, known: dict[str, dict]) -> list[str]:
        """The modes that were asked for, and others of which this build knows something."""
        others = {mode for one in known.values() for mode in one["modes"]} - {"plain", *self.modes}
        return [*self.modes, *sorted(others)]

    def measured(self) -> None:
        commits = collections.Counter(result["commit"] for result in self.state.results())
        self.summary["build"], self.summary["commits"] = self.state.build, dict(commits)
        if len(commits) <= 1:
            self.lines += [f"Measured: commit {next(iter(commits), self.state.commit)}, build {self.state.build}.", ""]
        else:
            parts = ", ".join(f"{count} results at {commit}" for commit, count in commits.most_common())
            self.lines += [f"MIXED: the same build {self.state.build}, but tests of several commits: {parts}.", ""]

    def failing(self, kind: str, known: dict[str, dict]) -> None:
        for name, one in known.items():
            for mode, result in one["modes"].items():
                if result["why"]:
                    self.failures.append((f"{kind} {name}", mode, result["why"], result.get("culprit", "")))

    def jobs(self) -> list[str]:
        known = {name: one for name, one in self.of("jobs").items() if name in {job.key for job in scripts()}}
        tried = {name: one for name, one in known.items() if "used" in one}
        counted = {name: one for name, one in tried.items() if not one["unsteady"]}
        used = sorted({path for one in counted.values() for path in one["used"]})
        programs = [path for path in used if is_program(path)]
        owners = packages_by_file()
        numbers = {
            "jobs": len(scripts()), "of these run": len(tried), "of these counted: plain runs agree": len(counted),
            "packages whose files ran": len({owners[path] for path in used if path in owners}),
            "packages whose executables ran": len({owners[path] for path in programs if path in owners}),
            "executables": len(programs), "libraries": len(used) - len(programs)}
        for mode in self.shown(counted):
            done = [one["modes"][mode]["why"] for one in counted.values() if mode in one["modes"]]
            numbers[f"{mode}: the same as plain, of {len(done)} run"] = done.count("")
        self.lines += rows("what | number", list(numbers.items()))
        self.summary["jobs"] = numbers
        self.failing("job", counted)
        self.failures += [(f"job {name}", "plain", one["trouble"], "") for name, one in known.items() if "trouble" in one]
        self.lines += rows("job not counted | why", [(name, f"`{one['unsteady'][:200]}`") for name, one in tried.items() if one["unsteady"]])
        return used

    def functions(self, used: list[str]) -> None:
        total = copied = 0
        reasons, alone, poor = collections.Counter(), [], []
        for report in sorted((self.objects.folder / "probes").glob("*.json")):
            said = json.loads(report.read_text())
            if said["original"] not in used or LEFT_OUT.search(said["original"]):
                continue
            if said["status"] != 0:
                alone.append((said["original"], said["message"]))
                continue
            total, copied = total + said["functions"], copied + said["instrumented"]
            reasons.update(said.get("skipped", {}))
            if said["functions"] and 100 * said["instrumented"] / said["functions"] < GOAL:
                poor.append((said["original"], said["instrumented"], said["functions"]))
        share = 100 * copied / total if total else 0.0
        self.summary["functions"] = {"all": total, "instrumented": copied, "share": round(share, 2), "reasons": dict(reasons.most_common()), "left_alone": alone}
        if total and share < GOAL:
            self.failures.append(("functions", "probes", f"{share:.2f} % of them are instrumented, less than {GOAL:.0f} %", ""))
        if total:
            self.lines += rows("functions | number", [("all", total), ("instrumented", f"{copied} ({share:.2f} %)")])
        self.lines += rows("reason why a function is not instrumented | functions", reasons.most_common())
        self.lines += rows("file left alone | why", alone) + rows("under 95 % | instrumented | of", poor)

    def files(self) -> None:
        """What the second decoder and eu-elflint say of each file written, in other runs and their modes, too."""
        counts = {mode: collections.Counter() for mode in self.modes}
        for mode, original, copy in self.objects.written():
            counts.setdefault(mode, collections.Counter())
            if not self.checks.known_already(original, copy):
                counts[mode]["not checked"] += 1
                continue
            result = self.checks.check(original, copy, mode)
            counts[mode]["written"] += 1
            counts[mode]["decoded"] += result["decoder"] == 0
            counts[mode]["linted"] += not result["lint"]
            if why := Checks.wrong(result):
                self.failures.append((f"file {original}", mode, why, ""))
        for mode, count in counts.items():
            if count["not checked"]:
                self.failures.append(("files", mode, f"{count['not checked']} not checked", ""))
        self.summary["files"] = counts
        self.lines += rows("mode | files written and checked | second decoder: all right | eu-elflint: nothing new | not checked", [
            (mode, count["written"], count["decoded"], count["linted"], count["not checked"]) for mode, count in counts.items() if count])

    def suites(self) -> None:
        known = self.of("suites")
        self.failing("suite", known)
        self.summary["suites"] = known
        modes = self.shown(known)
        table = []
        for name, one in known.items():
            if "plain" not in one:
                continue
            results = (one["modes"].get(mode) for mode in modes)
            table.append((name, one["plain"]["total"], len(one["plain"]["failed"]),
                          *(f"{len(r['failed'])} of {r['total']}" if r else "not run" for r in results)))
        self.lines += rows(" | ".join(("suite", "tests", "fail plain", *(f"fail: {mode}" for mode in modes))), table)
        self.lines += rows("suite skipped | why", [(name, one["skipped"]) for name, one in known.items() if "skipped" in one])

    def servers(self) -> None:
        known = self.of("servers")
        self.failing("server", known)
        self.summary["servers"] = known
        modes = ("plain", *self.shown(known))
        self.lines += rows(" | ".join(("server", *modes)), [
            (name, *(("FAILED" if r["why"] else r["said"]) if (r := one["modes"].get(mode)) else "not run" for mode in modes)) for name, one in known.items()])

    def coverage(self) -> None:
        known = self.of("coverage")
        self.failing("coverage", known)
        results = {name: one["modes"]["probes"] for name, one in known.items() if "probes" in one["modes"]}
        if not results:
            return
        blocks, traced, stubs = (sum(result[what] for result in results.values()) for what in ("blocks", "traced", "stubs"))
        share = 100 * traced / max(blocks, 1)
        reasons, alone = collections.Counter(), collections.Counter()
        for result in results.values():
            reasons.update(result["reasons"])
            alone.update(result["alone"])
        self.summary["coverage"] = {"programs": len(results), "blocks": blocks, "traced": traced, "share": round(share, 2), "reasons": dict(reasons.most_common())}
        if share < coverage.GOAL and len(results) == len(coverage.PROGRAMS):
            self.failures.append(("coverage", "probes", f"{share:.2f} % of the blocks that ran are traced, less than {coverage.GOAL:.0f} %", ""))
        table = [(name, r["blocks"], f"{100 * r['traced'] / max(r['blocks'], 1):.2f} %") for name, r in results.items()]
        self.lines += rows("program | blocks that ran | in traced functions", [*table, ("all", blocks, f"{share:.2f} %")])
        self.lines += [f"Besides, {stubs} blocks of the linker's stubs (the PLT) ran.", ""]
        self.lines += rows("why blocks are not traced | blocks", reasons.most_common()) + rows("file left alone | blocks", alone.most_common())

    def write(self, folder: pathlib.Path) -> int:
        self.lines += ["# The corpus", ""]
        self.measured()
        self.functions(self.jobs())
        for part in (self.files, self.suites, self.servers, self.coverage):
            part()
        self.lines += rows("failure | mode | difference | function", [
            (what, mode, f"`{' '.join(why.split())[:300]}`", function) for what, mode, why, function in self.failures])
        self.lines += ["No failure." if not self.failures else f"{len(self.failures)} failures."]
        (folder / "report.json").write_text(json.dumps({**self.summary, "failures": self.failures}, indent=1))
        (folder / "report.md").write_text("\n".join(self.lines) + "\n")
        for what, mode, why, function in self.failures:
            print(f"corpus: FAILED: {what} in {mode}: {why[:300]}{'; ' + function if function else ''}")
        print(f"corpus: {self.lines[2]} {self.lines[-1]} Report: {folder / 'report.md'}")
        return 1 if self.failures else 0


def write(folder: pathlib.Path, state: State, objects: Objects, checks: Checks, modes: list[str]) -> int:
    return Report(state, objects, checks, modes).write(folder)
