"""What was measured, kept in a file after each measurement, for one build of the programs."""

import json
import pathlib
import sys


def failed(value) -> bool:
    return isinstance(value, dict) and "problem" in value


class Results:
    def __init__(self, file: pathlib.Path, build: str):
        self.file = file
        self.values = json.loads(file.read_text()) if file.exists() else {}
        if self.values.get("build") != build:
            self.values = {"build": build}

    def measured(self, key: str, measure):
        if key not in self.values or failed(self.values[key]):
            print(f"bench: {key}", file=sys.stderr, flush=True)
            value = measure()
            if value is not None:
                self.values[key] = value
                self.save()

    def forget(self, parts: list[str], only: list[str] | None) -> None:
        """What is to be measured again, at once: a run that is stopped then goes on, and mixes nothing. `only`: these of a part's things."""
        self.values = {key: value for key, value in self.values.items()
                       if key.partition(" ")[0] not in parts or (only and key.partition(" ")[2] not in only)}
        self.save()

    def save(self) -> None:
        self.file.write_text(json.dumps(self.values, indent=1))

    def rows(self, part: str) -> list[tuple[str, dict]]:
        """Of a part that measures several things: their names and figures."""
        return [(key.removeprefix(f"{part} "), value) for key, value in self.values.items() if key.startswith(f"{part} ")]
