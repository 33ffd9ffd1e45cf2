"""What was measured, kept in a file after each measurement, for one build of the programs."""

import json
import pathlib
import sys


class Results:
    def __init__(self, file: pathlib.Path, build: str, again: bool):
        self.file, self.again = file, again
        self.values = json.loads(file.read_text()) if file.exists() else {}
        if self.values.get("build") != build:
            self.values = {"build": build}

    def measured(self, key: str, measure):
        if self.again or "problem" in self.values.get(key, {}) or key not in self.values:
            print(f"bench: {key}", file=sys.stderr, flush=True)
            value = measure()
            if value is not None:
                self.values[key] = value
                self.file.write_text(json.dumps(self.values, indent=1))

    def rows(self, part: str) -> list[tuple[str, dict]]:
        """Of a part that measures several things: their names and figures."""
        return [(key.removeprefix(f"{part} "), value) for key, value in self.values.items() if key.startswith(f"{part} ")]
