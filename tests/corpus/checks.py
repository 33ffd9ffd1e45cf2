"""Every file that was written, before others than those who wrote it: the second decoder (tests/truth/second_decoder), which
shares no code with the instrumentor, and eu-elflint, whose complaints about the original do not count.

What they say is kept by the files' content, so that the same file is not read twice.
"""

import hashlib
import json
import os
import pathlib
import subprocess

import elflint

MINUTES = 60
SECONDS_PER_MEGABYTE = 0.06  # of the written file, two at once


def digest(path: pathlib.Path | str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:24]


class Checks:
    def __init__(self, decoder: pathlib.Path, state: pathlib.Path):
        self.decoder = decoder
        self.folder = state / "checks" / digest(decoder)[:12]
        self.folder.mkdir(parents=True, exist_ok=True)
        self.known: dict[str, str] = {}  # digests of originals

    def about(self, file: pathlib.Path, mark: pathlib.Path) -> str:
        """The digest of a copy, which is kept beside it."""
        if not mark.exists() or mark.stat().st_mtime < file.stat().st_mtime:
            mark.write_text(digest(file))
        return mark.read_text()

    def kept(self, name: str, make) -> object:
        file = self.folder / name
        if not file.exists():
            made = make()
            beside = file.with_name(f"{name}.{os.getpid()}.{id(made)}")
            beside.write_text(json.dumps(made))
            beside.rename(file)
        return json.loads(file.read_text())

    def known_already(self, original: str, copy: pathlib.Path) -> bool:
        mark = copy.with_name(copy.name + ".digest")
        return mark.exists() and (self.folder / f"{self.of_original(original)}-{mark.read_text()}").exists()

    def of_original(self, original: str) -> str:
        if original not in self.known:
            self.known[original] = digest(original)
        return self.known[original]

    def decoded(self, original: str, copy: pathlib.Path, mode: str) -> dict:
        command = [self.decoder, *(["--poison"] if mode == "poison" else []), original, copy]
        try:
            ran = subprocess.run(command, check=False, capture_output=True, timeout=20 * MINUTES, start_new_session=True)
        except subprocess.TimeoutExpired:
            return {"decoder": -1, "said": ["did not end within 20 minutes"]}
        said = (ran.stdout + ran.stderr).decode(errors="replace").strip().splitlines()
        return {"decoder": ran.returncode, "said": said[:5] + said[5:][-1:]}

    def check(self, original: str, copy: pathlib.Path, mode: str) -> dict:
        """`decoder`: its exit status, with what it said; `lint`: complaints that the original does not give rise to."""
        of_original = self.of_original(original)
        of_copy = self.about(copy, copy.with_name(copy.name + ".digest"))
        before = self.kept(of_original, lambda: sorted(elflint.complaints(pathlib.Path(original))))
        return self.kept(f"{of_original}-{of_copy}", lambda: {
            **self.decoded(original, copy, mode), "lint": sorted(elflint.complaints(copy) - set(before))})

    @staticmethod
    def wrong(result: dict) -> str:
        """Why it is refused; "" if it is not."""
        reasons = [f"eu-elflint: {result['lint'][0]}"] if result["lint"] else []
        if result["decoder"] != 0:
            reasons.insert(0, f"second decoder (exit status {result['decoder']}): {' / '.join(result['said'][:1] + result['said'][1:][-1:])}")
        return "; ".join(reasons)
