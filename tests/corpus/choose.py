#!/usr/bin/env python3
"""Chooses the packages of the corpus, by rule, and writes their list to standard output.

    .ci/environment tests/corpus/choose.py > tests/corpus/packages

Chosen are, of Debian 13's main section for amd64:
 A  every package of the priorities required, important and standard;
 B  every program for the command line or the shell (by Debian's tags) to which 10 or more other source packages
    have a dependency, recommendation or suggestion;
 C  what the file `named` names;
less what the file `exclusions` leaves out, each with its reason.
"""

import collections
import pathlib
import re
import sys

RELATIONS = 10
HERE = pathlib.Path(__file__).parent


def packages() -> dict[str, dict[str, str]]:
    """The fields of each package, from the list that apt has fetched."""
    lists = sorted(pathlib.Path("/var/lib/apt/lists").glob("*_main_binary-amd64_Packages"))
    if not lists:
        sys.exit("choose.py: apt has no list of packages here: run it inside .ci/environment")
    found = {}
    for paragraph in lists[0].read_text(encoding="utf-8").split("\n\n"):
        fields, name = {}, ""
        for line in paragraph.splitlines():
            if line[:1] == " ":
                fields[name] += line
            else:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        if "Package" in fields:
            found[fields["Package"]] = fields
    return found


def words(file: str) -> list[list[str]]:
    lines = [line.split("#")[0].split() for line in (HERE / file).read_text().splitlines()]
    return [line for line in lines if line]


def source(fields: dict[str, str]) -> str:
    return fields.get("Source", fields["Package"]).split()[0]


def main() -> int:
    known = packages()
    related = collections.defaultdict(set)
    for fields in known.values():
        for field in ("Pre-Depends", "Depends", "Recommends", "Suggests"):
            for other in re.split("[,|]", fields.get(field, "")):
                if name := re.split("[ :(]", other.strip())[0]:
                    related[name].add(source(fields))

    chosen = {}
    for name, fields in known.items():
        tags = fields.get("Tag", "")
        relations = len(related[name] - {source(fields)})
        if fields.get("Priority") in ("required", "important", "standard"):
            chosen[name] = f"A: {fields['Priority']}"
        elif (relations >= RELATIONS and fields["Architecture"] == "amd64" and "role::program" in tags
              and any(tag in tags for tag in ("interface::commandline", "interface::shell", "scope::utility"))):
            chosen[name] = f"B: {relations}"
    excluded = {line[0] for line in words("exclusions")}
    if strangers := sorted(name for name in excluded if name not in chosen):
        print(f"choose.py: exclusions of what is not chosen: {', '.join(strangers)}", file=sys.stderr)
    chosen = {name: why for name, why in chosen.items() if name not in excluded}
    for line in words("named"):
        for name in line:
            if name not in known:
                print(f"choose.py: {name} is named and does not exist", file=sys.stderr)
            elif name not in chosen:
                chosen[name] = "C"

    print("# Written by choose.py, which says how: the packages of the corpus, and which rule chose each.")
    for name in sorted(chosen):
        print(f"{name:32}# {chosen[name]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
