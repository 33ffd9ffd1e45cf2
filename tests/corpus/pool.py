"""Several runners at work, and how long that will take."""

import concurrent.futures
import queue
import threading
import time
from collections.abc import Callable, Iterable

from runner import Runner


class Clock:
    """How much is left. Work is measured in the seconds that it takes on two cores; how fast this machine is, is seen by and by."""

    TRUSTED = 200.0  # so many seconds go by before what is seen here counts as much as what was measured elsewhere

    def __init__(self):
        self.lock, self.left, self.did, self.began = threading.Lock(), 0.0, 0.0, time.monotonic()

    def plan(self, seconds: float) -> None:
        self.left += seconds

    def done(self, seconds: float, known: bool = False) -> None:
        """`known`: there was nothing to be done for it, for it had been done before."""
        with self.lock:
            self.left = max(0.0, self.left - seconds)
            self.did += 0.0 if known else seconds

    def __str__(self) -> str:
        pace = (time.monotonic() - self.began + self.TRUSTED) / (self.did + self.TRUSTED)
        minutes = self.left * pace / 60
        return f"about {minutes:.0f} min left" if minutes >= 1.5 else "about a minute left"


class Pool:
    def __init__(self, count: int, make: Callable[[], Runner]):
        self.count, self.free, self.all = count, queue.Queue(), [make() for _ in range(count)]
        for runner in self.all:
            self.free.put(runner)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for runner in self.all:
            runner.close()

    def each(self, items: Iterable, work: Callable[[Runner, object], None]) -> None:
        """`work` is called for each of them, in their order, as many at once as there are runners."""
        def one(item) -> None:
            runner = self.free.get()
            try:
                if not runner.stopped:
                    work(runner, item)
            finally:
                self.free.put(runner)

        with concurrent.futures.ThreadPoolExecutor(self.count) as threads:
            try:
                for done in [threads.submit(one, item) for item in items]:
                    done.result()
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                for runner in self.all:
                    runner.stop()
                raise
