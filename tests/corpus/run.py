#!/usr/bin/env python3
"""No harm: real programs give the same results with TraceBack as without.

Each job of jobs/ (see there) runs plain until it is known to be steady, then in null mode (copied code without probes),
with probes, and in poison mode (original code that has copies is filled with breakpoints). Standard output, standard error,
exit status and all files must be the same; a failure is cut down to one function. The mode "profile", only if it is asked for, has
probes and blocks where profiles at random put them. Servers, upstream's test suites and the count
of blocks that run follow, if no option names jobs or modes. Every file written is read again by the second decoder and eu-elflint.
What it comes to is written to report.md and report.json in the state folder.
"""

import argparse
import pathlib
import signal
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import quick  # noqa: E402
import whole  # noqa: E402
from state import end_when_told  # noqa: E402


def take_signals() -> None:
    """What nohup(1) or a shell's background made this run ignore, its children would ignore too: with a handler instead, they start
    with the default. An interrupt ends the run, others are ignored as before."""
    for number in signal.valid_signals():
        if signal.getsignal(number) == signal.SIG_IGN and number not in (signal.SIGPIPE, signal.SIGXFSZ):  # Python's own, see bound.py
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else lambda *_: None)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def main() -> int:
    parser = argparse.ArgumentParser(prog="./check corpus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PATTERN", action="append", help="jobs whose name fits this pattern of the shell; may be repeated")
    parser.add_argument("--mode", action="append", choices=(*whole.MODES, *whole.OTHER_MODES), help="in these modes only; may be repeated")
    parser.add_argument("--plain", action="store_true", help="only find out which jobs are steady")
    parser.add_argument("--way", choices=("bound", "run"), default="bound",
                        help="bound: copies stand in the originals' places; run: by `traceback run`")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="so many at once (2)")
    parser.add_argument("--again", action="store_true", help="also what has passed already with this build")
    parser.add_argument("--suites", action="store_true", help="upstream's test suites alone, against their plain results")
    parser.add_argument("--servers", action="store_true", help="servers under load alone")
    parser.add_argument("--coverage", action="store_true", help="alone count the blocks that run, by valgrind, and those of them that are traced")
    parser.add_argument("--bisect", metavar="JOB", help="cut a job that fails in the --mode down to one function")
    parser.add_argument("--list", action="store_true", help="name the jobs")
    parser.add_argument("--quick", action="store_true", help="the short form, as in ./check test")
    parser.add_argument("--programs", type=pathlib.Path, default="build/release", help=argparse.SUPPRESS)
    parser.add_argument("--state", type=pathlib.Path, default="build/check/corpus", help=argparse.SUPPRESS)
    options = parser.parse_args()
    take_signals()
    end_when_told()
    return quick.main(options) if options.quick else whole.main(options)


if __name__ == "__main__":
    sys.exit(main())
