"""What each technique that makes probes cheap brings: programs instrumented with all of them, and with all but one."""

import os
import pathlib
import shutil
import statistics
import subprocess

import measure
import overhead
from programs import Program

# As `traceback instrument --without` has them.
TECHNIQUES = ("kept-cursor", "shared-heads", "heads-in-place", "open-heads", "passed-entries", "called-slots", "own-slots",
              "brought-cursor", "followed-registers", "jump-tables")
ALL = "all"


class Techniques(overhead.Overhead):
    def build(self, program: Program, variant: str) -> list[str]:
        """The command with its files instrumented so; what else it loads stays as it is."""
        folder = self.state / "techniques" / f"{program.name}-{variant}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        flags = [] if variant == ALL else ["--without", variant]
        for file, name in zip(overhead.hot_files(program), (os.path.basename(program.path()), *program.libraries)):
            if subprocess.run([self.traceback, "instrument", file, "-o", folder / name, *flags], check=False, capture_output=True).returncode != 0:
                shutil.copy(file, folder / name)
        return [str(folder / os.path.basename(program.path())), *program.command[1:]]

    def of(self, program: Program, rounds: int) -> dict:
        commands = {variant: self.build(program, variant) for variant in (ALL, *TECHNIQUES)}
        seconds = {variant: [] for variant in ("plain", *commands)}
        for _ in range(rounds):
            for variant, list_of in seconds.items():
                command = commands.get(variant) or [program.path(), *program.command[1:]]
                where = {} if variant == "plain" else {"LD_LIBRARY_PATH": str(pathlib.Path(command[0]).parent)}
                list_of.append(measure.timed(command, self.folder, {**self.environment, **where}, program.reads, program.result, program.lines).seconds)
        return {variant: measure.over(seconds["plain"], seconds[variant]) for variant in commands}


def table(rows: list[tuple[str, dict]]) -> str:
    out = ["## Techniques\n\nProcessor time over plain with all of them, and with all but one; medians of the ratios within a round.\n",
           f"| program | all | {' | '.join(f'without {name}' for name in TECHNIQUES)} |", "|---|---|" + "---|" * len(TECHNIQUES)]
    for name, value in rows:
        out.append(f"| {name} | " + " | ".join(f"{value[variant]:.2f}" for variant in (ALL, *TECHNIQUES)) + " |")
    means = [statistics.geometric_mean(value[variant] for _, value in rows) for variant in (ALL, *TECHNIQUES)]
    out.append("| geometric mean | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")
    return "\n".join(out) + "\n"
