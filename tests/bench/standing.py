"""Several of one server beside each other, each of another kind and on a port of its own, all on one processor: loads on them in turns are
measured within seconds of each other, where a machine with neighbours is one and a half times as fast as a quarter of an hour later."""

import dataclasses
import os
import pathlib
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "corpus"))
import servers  # noqa: E402
from runner import TROUBLE, Runner  # noqa: E402

ON_PROCESSOR = ("taskset", "-c", "0")
PATIENCE = 120.0  # seconds until it stands


class Standing:
    """Stands from its making until stop()."""

    def __init__(self, server: servers.Server, runner: Runner, mode: str, lines: list[str]):
        self.problem = ""
        folder = runner.top / server.name
        self.ready, self.go = folder / "ready", folder / "go"
        for left in (self.ready, self.go):
            left.unlink(missing_ok=True)
        # Until it is let go its shell waits, and takes none of the processor.
        held = dataclasses.replace(server, load=f"mkfifo {self.go}; touch {self.ready}; read -r < {self.go}")
        self.thread = threading.Thread(target=self.run, args=(held, runner, mode, lines))
        self.thread.start()
        self.wait()

    def run(self, server: servers.Server, runner: Runner, mode: str, lines: list[str]) -> None:
        try:
            said, _ = servers.said_of(server, runner, mode, lines, ON_PROCESSOR)
        except TROUBLE as failure:
            self.problem = str(failure)
            return
        if "never answered" in said or "STOPPED 0" not in said:
            self.problem = " / ".join(said.strip().splitlines()[-3:])

    def wait(self) -> None:
        until = time.monotonic() + PATIENCE
        while not self.ready.exists() and self.thread.is_alive() and time.monotonic() < until:
            time.sleep(0.05)

    def stop(self) -> str:
        """What went wrong; empty if nothing did."""
        if self.ready.exists() and self.thread.is_alive():
            # (Without waiting for somebody who reads: he may just have ended.)
            with open(os.open(self.go, os.O_RDWR), "w", encoding="ascii") as go:
                go.write("\n")
                go.flush()
                self.thread.join()
        self.thread.join()
        return self.problem
