"""The project's files, for the checks of this folder."""

import pathlib
import subprocess

SKIPPED = {"build", ".git", "__pycache__"}


def tracked_files(root: pathlib.Path) -> list[pathlib.Path]:
    """Paths relative to `root`: what git tracks or is about to, else (in an unpacked archive) all but the build."""
    git = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        check=False,
    )
    if git.returncode == 0 and git.stdout:
        names = [pathlib.Path(name) for name in git.stdout.decode().split("\0") if name]
        return sorted(name for name in names if (root / name).is_file())
    return sorted(
        path.relative_to(root)
        for path in root.rglob("*")
        if path.is_file() and not SKIPPED & set(path.relative_to(root).parts)
    )


def text_of(path: pathlib.Path) -> str | None:
    """The text of a file, or None if it is a binary one."""
    data = path.read_bytes()
    if b"\0" in data[:8192]:
        return None
    return data.decode("utf-8", errors="replace")
