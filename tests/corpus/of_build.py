"""Tests of the programs in a build folder, with a folder to work in."""

import argparse
import pathlib
import sys
import unittest


class OfBuild(unittest.TestCase):
    programs: pathlib.Path
    folder: pathlib.Path


def main() -> None:
    """Runs the tests of the program; to be called from its end. Both folders are its options, the others are unittest's."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    options, rest = parser.parse_known_args()
    OfBuild.programs, OfBuild.folder = options.programs.resolve(), options.folder.resolve()
    unittest.main(argv=[sys.argv[0], *rest])
