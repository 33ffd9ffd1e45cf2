"""Processes that lead a group of their own."""

import os
import signal
import subprocess


def kill_group(process: subprocess.Popen) -> None:
    """Ends it, and whatever it has left in its group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
