"""What the programs of a distribution are made to do: a table for each kind of program.

A job is a shell script. What it tests are the commands behind the word `run`, which is a function of the shell that runs
them plainly or through TraceBack. A job runs in a folder of its own, with the files of data.py in it; its standard output,
standard error, exit status and all files that it leaves must be the same however its programs are run. What differs from run
to run by itself (times, process ids) must not be left: a job that two plain runs do not agree on is listed and not counted.
"""

import dataclasses
import importlib
import pathlib
import re


@dataclasses.dataclass(frozen=True)
class Script:
    kind: str  # the table that it stands in
    name: str
    text: str

    @property
    def key(self) -> str:
        return f"{self.kind}.{self.name}"

    @property
    def programs(self) -> tuple[str, ...]:
        """The words that follow `run`, as they are written; a loop's variable is not a program."""
        return tuple(dict.fromkeys(re.findall(r"\brun ([\w./+\[-]+)", self.text)))


def scripts() -> list[Script]:
    found = []
    for file in sorted(pathlib.Path(__file__).parent.glob("[a-z]*.py")):
        table = importlib.import_module(f"{__name__}.{file.stem}").JOBS
        found += [Script(file.stem, name, text.strip() + "\n") for name, text in table.items()]
    return found
