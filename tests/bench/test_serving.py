#!/usr/bin/env python3
"""How servers are started and loaded in turns, and how their figures are summed up.

    test_serving.py
"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import serving  # noqa: E402


def start(plain: list[float], recorded: list[float], profiled: list[float]) -> dict[str, list[tuple]]:
    """Turns of one start in which no latency was told."""
    rates = {"plain": plain, "recorded": recorded, "profiled": profiled}
    return {kind: [(rate, None, None, 10.0) for rate in rates[kind]] for kind in serving.KINDS}


class Summary(unittest.TestCase):
    def test_a_change_is_that_within_a_turn(self):
        # The machine was half as fast in the second turn.
        figures = serving.summary([start([100, 50, 100], [90, 45, 90], [100, 50, 100])])
        self.assertAlmostEqual(figures["recorded_change"], -0.1)
        self.assertAlmostEqual(figures["profiled_change"], 0)

    def test_a_start_counts_once_and_says_how_far_starts_differ(self):
        figures = serving.summary([start([100], [90], [100]), start([100], [80], [100])])
        self.assertAlmostEqual(figures["recorded_change"], -0.15)
        self.assertAlmostEqual(figures["recorded_error"], 0.05)
        self.assertEqual(figures["profiled_error"], 0)

    def test_one_start_tells_nothing_of_how_far_they_differ(self):
        self.assertIsNone(serving.summary([start([100], [90], [95])])["recorded_error"])

    def test_figures_are_medians_and_what_was_not_told_stays_so(self):
        figures = serving.summary([start([100, 300, 200], [1], [1])])
        self.assertEqual(figures["plain"], [200, None, None, 10.0])

    def test_the_table_shows_both(self):
        figures = serving.summary([start([100], [90], [100]), start([100], [80], [100])])
        self.assertIn("| a server | 100 | 85 | -15.0 ± 5.0 % | 100 | +0.0 ± 0.0 % | - | - | 10, 10, 10 |", serving.table([("a server", figures)]))


class Order(unittest.TestCase):
    def test_no_kind_is_always_started_first(self):
        orders = [serving.in_turn(number) for number in range(serving.STARTS)]
        for place in range(len(serving.KINDS)):
            self.assertEqual({order[place] for order in orders}, set(serving.KINDS))


class Placed(unittest.TestCase):
    def test_each_kind_has_ports_of_its_own(self):
        ports = set()
        for load in serving.LOADS.values():
            server = next(server for server in serving.servers.SERVERS if server.name == load.server)
            for kind in serving.KINDS:
                own = str(serving.PORTS[load.server] + 100 * serving.KINDS.index(kind))
                self.assertIn(own, serving.placed(server, kind).start)
                self.assertIn(own, serving.command_of(load, kind, 1))
                ports.add(own)
        self.assertEqual(len(ports), len(serving.PORTS) * len(serving.KINDS))

    def test_the_program_has_what_is_neither_the_kernels_nor_idle(self):
        self.assertAlmostEqual(serving.program_share([0] * 8, [20, 5, 50, 25, 0, 0, 0, 0]), 0.25)


if __name__ == "__main__":
    unittest.main()
