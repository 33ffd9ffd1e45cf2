#!/usr/bin/env python3
"""A soak that is told to end leaves nothing behind.

    test_told_to_end.py --programs FOLDER --folder FOLDER     FOLDER: of the build; and one to work in
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "corpus")]
import of_build  # noqa: E402
import servers  # noqa: E402
from load import Server  # noqa: E402
from scenario import Soak  # noqa: E402

# In the place of nginx, a shell that serves nobody; and of its load, one that goes on for longer than it may.
SOAK = """
import sys
sys.path.insert(0, sys.argv.pop(1))
import run, load, servers
nap = sys.argv.pop(1)
servers.SERVERS[:] = [servers.Server("nginx", f"run bash -c '> ready; sleep {nap}; true' & until [ -e ready ]; do sleep 0.1; done", "", "", "", "")]
load.LOADS["nginx"] = load.Load(f"> ../../loading; sleep {nap}", "never", "never")
sys.exit(run.main())
"""


def running(argument: str) -> list[str]:
    """The command lines, of all processes, with that argument in them."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            pass  # it has ended
    return [line for line in found if argument in line]


class ToldToEnd(of_build.OfBuild):
    def test_a_soak_with_a_server_under_load_leaves_nothing_behind(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        state, temporary = self.folder / "state", self.folder / "tmp"
        temporary.mkdir(parents=True)
        rings = set(pathlib.Path("/dev/shm").glob("traceback-soak-*"))
        nap = f"{os.getpid()}.5"
        soak = subprocess.Popen([sys.executable, "-c", SOAK, HERE, nap, "--only", "nginx", "--programs", self.programs, "--state", state],
                                env={**os.environ, "TMPDIR": str(temporary)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            while not (temporary / "loading").exists() and soak.poll() is None:
                time.sleep(0.1)
            self.assertEqual(len([line for line in running(nap) if line.startswith("sleep")]), 2)
            soak.send_signal(signal.SIGTERM)
            said = soak.communicate()[0]
        finally:
            soak.kill()
        self.assertIn("KeyboardInterrupt", said)
        self.assertEqual(running(nap), [])
        self.assertEqual([*temporary.glob("traceback-soak-*")], [])
        self.assertEqual(set(pathlib.Path("/dev/shm").glob("traceback-soak-*")) - rings, set())
        # What the server did when it was killed does not count as its failure.
        file = state / "state.json"
        self.assertNotIn("whole", json.loads(file.read_text())["soak"]["nginx"]["modes"] if file.exists() else {})

    def test_a_server_that_starts_as_the_soak_ends_is_ended_with_it(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        nap = f"{os.getpid()}.25"
        servers.SERVERS[:] = [servers.Server("nginx", f"sleep {nap} &", "", "", "", "")]
        soak = Soak(self.programs, self.folder, 1.0, again=True, tests="")
        soak.stop()
        server = Server(soak, "nginx")
        self.assertFalse(server.started())
        self.assertEqual((soak.running, running(nap), server.place.top.exists()), ([], [], False))


if __name__ == "__main__":
    of_build.main()
