#!/usr/bin/env python3
"""Checks the layout of the project, and that no file of it knows one particular machine.

    check_tree.py [ROOT]      exit status 1, and a line for each thing that is wrong
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from tree import text_of, tracked_files  # noqa: E402

FOLDERS = {"app", "model", "views", "loader", "instrument", "runtime", "resources", "tests", ".ci"}
FILES = {
    "CMakeLists.txt", "CMakePresets.json", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE",
    "demo", "check", ".clang-format", ".clang-tidy", ".gitignore", ".gitattributes", ".editorconfig",
    ".pre-commit-config.yaml", ".clangd",
}
RUN_DIRECTLY = ["demo", "check", ".ci/run", ".ci/environment"]

# Brackets keep these patterns from finding themselves.
FORBIDDEN = [
    (re.compile(r"(?<![\w.$}])/(?:[h]ome|[U]sers)/[a-z_]"), "a home folder's path"),
    (re.compile(r"(?<![\w.$}])/[r]oot/"), "a home folder's path"),
    (re.compile(r"\bdeb(?:-src)?\s+(?:\[[^\]]*\]\s*)?[h]ttps?://"), "a package registry's address"),
    (re.compile(r"\b[h]ttps?://[^\s/]*(?:deb\.debian|security\.debian|ubuntu\.com|fedoraproject|pypi|npmjs|crates)[^\s]*"),
     "a package registry's address"),
    (re.compile(r"^(?:<{7} |>{7} |={7}$)", re.M), "a merge conflict"),
]


def check(root: pathlib.Path) -> list[str]:
    wrong = []
    files = tracked_files(root)
    for top in sorted({path.parts[0] for path in files if len(path.parts) > 1} - FOLDERS):
        wrong.append(f"{top}/: not one of the folders at the top level")
    for path in files:
        if len(path.parts) == 1 and path.name not in FILES:
            wrong.append(f"{path}: not one of the files at the top level")
    for name in sorted(FOLDERS):
        if not (root / name).is_dir():
            wrong.append(f"{name}/: missing")
    for name in RUN_DIRECTLY:
        if not (root / name).is_file() or not (root / name).stat().st_mode & 0o100:
            wrong.append(f"{name}: missing or not executable")
    for path in files:
        text = text_of(root / path)
        for pattern, what in FORBIDDEN if text is not None else []:
            for found in pattern.finditer(text):
                wrong.append(f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {what}: {found[0].strip()}")
    for path in files:
        # What a page of ours links to is there.
        for target in re.findall(r"\]\(([^)#\s]+)", text_of(root / path) or "") if path.suffix == ".md" else []:
            if ":" not in target and not (root / path.parent / target).exists():
                wrong.append(f"{path}: links to {target}, which is not there")
    return wrong


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    wrong = check(root)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
