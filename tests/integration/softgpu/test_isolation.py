# SPDX-License-Identifier: MIT
"""What goes on beside a dispatch: right alone and under 3 and 5 groups, with the outcome that each dispatch must have."""
import re
import unittest

import harness
from test_apps import Case, GROUPS

SIZES = (3, 5)
TOOL = harness.APPS / "calling_tool.so"
GROWTH_KIB = 200 * 1024  # of a process with any number of dispatches under way; alone it is 15 MiB
BACKLOG = 10000


class Beside(Case):
    def test_counting_thread(self):
        self.all_replayed("isolation", "counting_thread", 1040, SIZES)

    def test_copying_thread(self):
        self.all_replayed("isolation", "copying_thread", 40, SIZES)

    def test_producer_and_consumer(self):
        self.all_replayed("isolation", "producer_consumer", 60, SIZES)

    def test_chains_over_eight_streams(self):
        self.all_replayed("isolation", "chains", 40, SIZES)

    def test_launches_from_host_callbacks(self):
        self.all_replayed("isolation", "callback_launches", 20, SIZES)

    def test_graphs_are_replayed(self):
        self.all_replayed("isolation", "graph", 15, SIZES)

    def test_own_abort_handler(self):
        self.all_replayed("isolation", "own_abort", 20, SIZES)

    def test_two_gpus_at_once(self):
        self.all_replayed("isolation", "gpu_each", 40, SIZES, SOFTGPU_DEVICES="2")

    def test_dispatch_behind_an_unsatisfied_barrier(self):
        self.all_replayed("isolation", "unsatisfied", 21, SIZES)


class Waiting(Case):
    def test_kernel_waits_for_the_host(self):
        self.each(lambda passes, outcomes, replay: self.assert_declined(replay, outcomes, "host_memory"), "isolation",
                  "host_flag", 1, SIZES)

    def test_kernel_waits_for_a_copy(self):
        """The copy is held back by the very window that waits for it: the live execution's bound ends that, and the program
        goes on as if nothing had been."""
        def check(passes, outcomes, replay):
            self.assert_declined(replay, outcomes[:1], "live_run_stuck")
            self.assert_replayed(outcomes[1:], passes)

        self.each(check, "isolation", "device_flag", 3, SIZES, KREPLAY_LIVE_MS="1000")


class Backlog(Case):
    """Dispatches that nobody waits for. The label `long` has ten times as many."""
    dispatches = BACKLOG

    def check(self, threads, passes):
        result = harness.plain(harness.APPS / "backlog", str(threads), str(self.dispatches))
        self.assertIn("backlog: ok", result.stdout, result.stderr)
        replay = harness.Replay(GROUPS[:passes], harness.APPS / "backlog", str(threads), str(self.dispatches))
        self.assertEqual(replay.result.returncode, 0, replay.explain())
        self.assertIn("backlog: ok", replay.result.stdout)
        outcomes = self.outcomes(replay)
        self.note_shares(replay)
        self.assertEqual(len(outcomes), self.dispatches + 1)
        self.assert_replayed(outcomes, passes)
        self.assertLess(int(re.search(r"grown by (\d+) KiB", replay.result.stdout).group(1)), GROWTH_KIB)

    def test_one_thread(self):
        self.check(1, 3)

    def test_eight_threads(self):
        self.check(8, 3)


class LongBacklog(Backlog):
    dispatches = 10 * BACKLOG


class Callbacks(unittest.TestCase):
    """A tool whose callbacks do things in the program."""

    def run_tool(self, program, *arguments, **environment):
        result = harness.run([harness.KREPLAY, "run", "--tool", TOOL, "--tool-only", "--soft-gpu", "--", program,
                              *arguments], **environment)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("PASS", result.stdout)
        lines = [line.split()[1:] for line in result.stderr.splitlines() if line.startswith("calling_tool: ")]
        return result, lines

    def of(self, lines, kernel):
        return [line[1:] for line in lines if kernel in line[0]]

    def test_launch_on_the_same_gpu(self):
        result, lines = self.run_tool(harness.APPS / "called_back", "same")
        self.assertIn("10 launches by the tool", result.stdout)
        self.assertEqual(len(self.of(lines, "guest")), 10)
        workers = self.of(lines, "worker")
        self.assertEqual(len(workers), 10)
        for kind, reason, executed, _ in workers:
            self.assertEqual((kind, reason, executed), ("0", "none", "5"))

    def test_launch_and_wait_on_another_gpu(self):
        result, lines = self.run_tool(harness.APPS / "called_back", "other", SOFTGPU_DEVICES="2")
        self.assertIn("10 launches by the tool", result.stdout)
        self.assertEqual(len(self.of(lines, "guest")), 10)
        self.assertEqual([w[:3] for w in self.of(lines, "worker")], [["0", "none", "5"]] * 10)

    def test_arguments_of_others_are_not_put_back(self):
        """The reference's concurrency regression: 50 cycles, none corrupt."""
        result, lines = self.run_tool(harness.APPS / "called_back", "victims")
        self.assertIn("0 of 50 cycles corrupt", result.stdout)
        self.assertEqual(self.of(lines, "hog"), [["0", "none", "5", "0"]] * 50)
        self.assertEqual(len(self.of(lines, "victim")), 100)

    def test_passes_without_end_have_one(self):
        """The reference's reproducer r4, which never came back."""
        result, lines = self.run_tool(harness.EXAMPLES / "in_place", "4096", TOOL_ENDLESS="1", KREPLAY_OPEN_PASSES="300")
        self.assertEqual(self.of(lines, "add_in_place"), [["0", "none", "300", "0"]] * 3)
        self.assertIn("KREPLAY_OPEN_PASSES sets the limit", result.stderr)


if __name__ == "__main__":
    unittest.main()
