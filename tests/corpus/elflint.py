"""What eu-elflint finds wrong with a file."""

import pathlib
import re
import subprocess

NUMBER = re.compile(r"(0x)?[0-9a-f]*[0-9][0-9a-f]*")


def without_numbers(lines: list[str], file: pathlib.Path) -> set[str]:
    """For what lies elsewhere is counted differently."""
    return {NUMBER.sub("N", line.replace(str(file), "FILE")).replace("[ ", "[") for line in lines}


def complaints(file: pathlib.Path) -> set[str]:
    done = subprocess.run(["eu-elflint", "--gnu-ld", file], check=False, capture_output=True, text=True, errors="replace", timeout=240,
                          start_new_session=True)
    lines = (done.stdout + done.stderr).splitlines()
    return without_numbers([line for line in lines if line != "No errors"], file)
