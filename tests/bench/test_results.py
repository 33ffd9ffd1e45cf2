#!/usr/bin/env python3
"""What the bench keeps: what was measured counts until it is asked for again, and a failure is none.

    test_results.py
"""

import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from results import Results  # noqa: E402


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "results.json"

    def results(self, build: str = "a build") -> Results:
        return Results(self.file, build)

    def kept(self) -> dict:
        return json.loads(self.file.read_text())

    def measure(self, value, *keys: str) -> None:
        results = self.results()
        for key in keys:
            results.measured(key, lambda: value)

    def test_a_figure_counts_for_one_build(self):
        self.measure({"plain": 1}, "overhead gzip")
        self.measure({"plain": 2}, "overhead gzip")
        self.assertEqual(self.results().rows("overhead"), [("gzip", {"plain": 1})])
        self.assertEqual(self.results("another").rows("overhead"), [])

    def test_what_failed_is_tried_again(self):
        self.measure({"problem": "another result"}, "overhead gzip")
        self.measure({"plain": 2}, "overhead gzip")
        self.assertEqual(self.kept()["overhead gzip"], {"plain": 2})

    def test_a_figure_may_be_a_number(self):
        self.measure(1.5, "scale reverse-step")
        self.measure(2.5, "scale reverse-step")
        self.assertEqual(self.kept()["scale reverse-step"], 1.5)

    def test_only_what_is_asked_for_is_forgotten_and_that_at_once(self):
        self.measure({"plain": 1}, "overhead gzip", "overhead xz", "servers nginx", "scale", "scale reverse-step")
        self.results().forget(["overhead"], ["xz"])
        self.assertEqual(self.kept().keys(), {"build", "overhead gzip", "servers nginx", "scale", "scale reverse-step"})
        self.results().forget(["overhead", "scale"], None)
        self.assertEqual(self.kept().keys(), {"build", "servers nginx"})


if __name__ == "__main__":
    unittest.main()
