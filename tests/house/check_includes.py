#!/usr/bin/env python3
"""Checks who includes whom against the table in ARCHITECTURE.md, and that Qt stays where it belongs.

    check_includes.py [ROOT]      exit status 1, and a line for each include that is wrong
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from tree import tracked_files  # noqa: E402

SOURCES = {".h", ".cpp", ".c", ".S"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
NAMESPACE = re.compile(r"^\s*namespace\s+(traceback(?:::\w+)*)\s*\{")
QT_HEADER = re.compile(r"^(Q[A-Z]\w*|Qt\w*/.*|q[a-z]+\.h|KSyntaxHighlighting/.*|KF6/.*)$")
# What runs inside other people's processes may not drag in code that allocates, locks or throws.
HOSTED = set(
    "algorithm any condition_variable cstdio cstdlib deque exception expected filesystem format fstream functional future "
    "iostream istream iterator list locale map memory mutex new numeric optional ostream print queue ranges regex set "
    "shared_mutex sstream stack stdexcept string string_view strstream syncstream system_error thread unordered_map "
    "unordered_set valarray variant vector stdio.h stdlib.h".split()
)
# The folders of app/ whose programs run without Qt.
QT_FREE_PROGRAMS = ("app/traceback", "app/tracebackd")


class Table:
    """Folder -> (namespace, folders that it may include or None for all of them, whether Qt)."""

    def __init__(self, architecture: str):
        self.rows: dict[str, tuple[str, set[str] | None, bool]] = {}
        for line in architecture.splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) != 3 or not cells[0].startswith("`") or "traceback::" not in cells[1]:
                continue
            folder = cells[0].strip("`").rstrip("/")
            namespace = re.findall(r"`([^`]+)`", cells[1])[0]
            named = {name.rstrip("/") for name in re.findall(r"`([^`]+)`", cells[2])}
            self.rows[folder] = (namespace, None if cells[2] == "all" else named, cells[2] == "all" or "Qt" in cells[2])
        # Tests may include everything; they have no row, for nothing may include them.
        self.rows["tests"] = ("traceback", None, True)

    def folder_of(self, path: str) -> str | None:
        """The row that a path falls under: the one with the longest name."""
        fitting = [folder for folder in self.rows if path == folder or path.startswith(folder + "/")]
        return max(fitting, key=len, default=None)


def only_declares(lines: list[str], first: int) -> bool:
    """Whether the namespace that opens in line `first` has nothing in it but forward declarations."""
    body = ""
    for line in lines[first:]:
        body += line.split("//")[0] + "\n"
        if "}" in line:
            break
    inner = body[body.index("{") + 1:].split("}")[0]
    return re.fullmatch(r"(\s*(class|struct)\s+\w+\s*;)*\s*", inner) is not None


def allowed(target: str, own: str, permitted: set[str] | None) -> bool:
    if target.startswith(own + "/") or permitted is None:
        return True
    return any(target == entry or target.startswith(entry + "/") for entry in permitted)


def check(root: pathlib.Path) -> list[str]:
    table = Table((root / "ARCHITECTURE.md").read_text())
    if len(table.rows) < 8:
        return ["ARCHITECTURE.md: the table of folders cannot be read"]
    wrong = []
    for path in tracked_files(root):
        if path.suffix not in SOURCES:
            continue
        name = path.as_posix()
        own = table.folder_of(name)
        if own is None:
            wrong.append(f"{name}: in none of the folders that ARCHITECTURE.md names")
            continue
        namespace, permitted, qt = table.rows[own]
        if name.startswith(tuple(folder + "/" for folder in QT_FREE_PROGRAMS)):
            permitted, qt = set(table.rows) - {"views", "tests", "app"}, False
            own = name.rsplit("/", 1)[0] if name.count("/") < 2 else "/".join(name.split("/")[:2])
        lines = (root / path).read_text().splitlines()
        for number, line in enumerate(lines, 1):
            where = f"{name}:{number}"
            if declared := NAMESPACE.match(line):
                foreign = declared[1] != namespace and not declared[1].startswith(namespace + "::")
                if own != "tests" and foreign and not only_declares(lines, number - 1):
                    wrong.append(f"{where}: namespace {declared[1]}, but this folder's is {namespace}")
            found = INCLUDE.match(line)
            if not found:
                continue
            quote, target = found[1], found[2]
            if QT_HEADER.match(target) and not qt:
                wrong.append(f"{where}: {target}: no Qt in {own}/")
            elif name.startswith("runtime/inject/") and target in HOSTED:
                wrong.append(f"{where}: <{target}>: what is injected is freestanding")
            elif quote == "<" and table.folder_of(target) and (root / target).exists():
                wrong.append(f'{where}: <{target}>: ours are included as "{target}"')
            elif quote == '"' and own != "tests":
                if table.folder_of(target) is None or not (root / target).exists():
                    if not target.endswith(".moc"):
                        wrong.append(f'{where}: "{target}": not a path from the top of the project')
                elif not allowed(target, own, permitted):
                    wrong.append(f"{where}: {own}/ may not include {target}")
    return wrong


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    wrong = check(root)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
