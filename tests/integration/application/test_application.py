# SPDX-License-Identifier: MIT
"""Application replay: the counters of kernel replay, the files of rocprofv3, and runs that differ."""
import json
import tempfile
import unittest

import runs
from runs import GROUPS, harness

APPLICATION = ["--replay-mode", "application"]
OUTPUTS = ["out_agent_info.csv", "out_counter_collection.csv", "out_kernel_trace.csv", "out_results.db",
           "out_results.json"]
ALL = ["-f", "json", "csv", "rocpd"]


def sh(text):
    return ["sh", "-c", text.format(three=harness.EXAMPLES / "three_kernels", place=harness.EXAMPLES / "in_place")]


class SameValues(unittest.TestCase):
    def compare(self, *program):
        kernel = runs.Files(GROUPS, ["--replay-mode", "kernel"], *program)
        application = runs.Files(GROUPS, APPLICATION, *program)
        for files in (kernel, application):
            self.assertEqual(files.result.returncode, 0, files.explain())
        expected = runs.counters(kernel.folder / "out_results.db")
        self.assertGreater(len(expected), 0)
        self.assertEqual(runs.counters(application.folder / "out_results.db"), expected)
        self.assertEqual(application.result.stdout, kernel.result.stdout * len(GROUPS))
        return application

    def test_three_kernels(self):
        self.compare(harness.EXAMPLES / "three_kernels", *runs.SMALL)

    def test_in_place(self):
        self.compare(harness.EXAMPLES / "in_place")

    def test_two_processes(self):
        files = self.compare(*sh("{three} 65536 1 && {place}"))
        self.assertEqual(len(runs.ask(files.folder / "out_results.db", "SELECT 1 FROM kreplay_process")), 2)


class Layout(unittest.TestCase):
    def test_joined(self):
        files = runs.Files(GROUPS, APPLICATION + ALL, harness.EXAMPLES / "three_kernels", *runs.SMALL)
        self.assertEqual(files.result.returncode, 0, files.explain())
        passes = [f"pass_{number + 1}/{name}" for number in range(len(GROUPS)) for name in OUTPUTS]
        self.assertEqual(files.names(), sorted(OUTPUTS + passes))
        for number, group in enumerate(GROUPS):  # a pass's own files have that pass's counters only
            rows = runs.read_csv(files.folder / f"pass_{number + 1}" / "out_counter_collection.csv")
            self.assertEqual({row["Counter_Name"] for row in rows}, set(group.split()))
            self.assertEqual({row["Replay_Pass"] for row in rows}, {"0"})
        rows = runs.read_csv(files.folder / "out_counter_collection.csv")
        self.assertEqual({row["Replay_Pass"] for row in rows}, {str(number) for number in range(len(GROUPS))})
        with open(files.folder / "out_results.json", encoding="utf-8") as file:
            process = json.load(file)["rocprofiler-sdk-tool"][0]
        self.assertEqual(process["metadata"]["kreplay"]["mode"], "application")
        self.assertEqual([(run["run"], run["dispatches"], run["matched"], run["exit_status"])
                          for run in process["kreplay"]["application_runs"]],
                         [(number + 1, 3, 3, 0) for number in range(len(GROUPS))])
        self.assertEqual(process["kreplay"]["unmatched"], [])
        self.assertEqual({d["outcome"] for d in process["kreplay"]["dispatches"]}, {"joined"})

    def test_as_rocprofv3(self):
        for options, name in ((["--compat", "rocprofv3"], None), ([], "rocprofv3")):
            with self.subTest(options=options, name=name):
                files = runs.Files(GROUPS[:2], options + ALL, harness.EXAMPLES / "three_kernels", *runs.SMALL, name=name)
                self.assertEqual(files.result.returncode, 0, files.explain())
                self.assertEqual(files.names(), [f"pass_{number}/{name}" for number in (1, 2) for name in OUTPUTS])
                self.assertNotIn("vector_add", files.result.stderr)  # no table

    def test_kernel_mode_as_rocprofv3(self):
        options = ["--compat", "rocprofv3", "--replay-mode", "kernel", "--kernel-replay-beta-enabled", *ALL]
        files = runs.Files(GROUPS[:2], options, harness.EXAMPLES / "three_kernels", *runs.SMALL)
        self.assertEqual(files.result.returncode, 0, files.explain())
        self.assertEqual(files.names(), OUTPUTS)

    def test_one_group(self):
        files = runs.Files(GROUPS[:1], APPLICATION + ALL, harness.EXAMPLES / "three_kernels", *runs.SMALL)
        self.assertEqual(files.names(), OUTPUTS)


class Differences(unittest.TestCase):
    def test_listed_and_counted(self):
        """The second run does more than the first, the third less."""
        text = ("echo >>$0; case $(wc -l <$0) in 1) {three} 65536 2;; 2) {three} 65536 3;; 3) {three} 65536 1;; esac")
        with tempfile.NamedTemporaryFile() as count:
            files = runs.Files(GROUPS, APPLICATION + ["-f", "rocpd", "json"], *sh(text), count.name)
        self.assertEqual(files.result.returncode, 0, files.explain())
        database = files.folder / "out_results.db"
        rows = runs.ask(database, "SELECT run, dispatches, matched, extra, missing FROM kreplay_application_run")
        one = rows[2][1]  # dispatches of one iteration
        self.assertEqual(rows, [(1, 2 * one, 2 * one, 0, 0), (2, 3 * one, 2 * one, one, 0), (3, one, one, 0, one)])
        self.assertEqual(runs.ask(database, "SELECT run, side, count(*) FROM kreplay_unmatched GROUP BY 1, 2"),
                         [(2, "extra", one), (3, "missing", one)])
        self.assertIn(f"run 2 of the program differs from run 1: of its {3 * one} dispatches {one} have no counterpart",
                      files.result.stderr)
        self.assertIn(f"run 3 of the program differs from run 1: of its {one} dispatches 0 have no counterpart there, "
                      f"and {one} of run 1 have none here", files.result.stderr)
        with open(files.folder / "out_results.json", encoding="utf-8") as file:
            section = json.load(file)["rocprofiler-sdk-tool"][0]["kreplay"]
        self.assertEqual([entry["side"] for entry in section["unmatched"]], ["extra"] * one + ["missing"] * one)

    def test_exit_status_of_the_first_run_that_failed(self):
        text = "{three} 65536 1; echo >>$0; case $(wc -l <$0) in 2) exit 7;; 3) exit 9;; esac"
        with tempfile.NamedTemporaryFile() as count:
            files = runs.Files(GROUPS, APPLICATION + ["-f", "rocpd"], *sh(text), count.name)
        self.assertEqual(files.result.returncode, 7, files.explain())
        database = files.folder / "out_results.db"
        self.assertEqual(runs.ask(database, "SELECT exit_status FROM kreplay_application_run"), [(0,), (7,), (9,)])
        self.assertEqual(runs.ask(database, "SELECT exit_status FROM kreplay_run"), [(7,)])
        self.assertEqual(runs.ask(database, "SELECT count(*) FROM kreplay_unmatched"), [(0,)])

    def test_a_run_that_is_killed(self):
        """What its log has is joined, the rest is missing."""
        text = "{three} 65536 1; echo >>$0; [ $(wc -l <$0) -ne 2 ] || kill -KILL $$; {three} 65536 1"
        with tempfile.NamedTemporaryFile() as count:
            files = runs.Files(GROUPS, APPLICATION + ["-f", "rocpd"], *sh(text), count.name)
        self.assertEqual(files.result.returncode, 137, files.explain())
        rows = runs.ask(files.folder / "out_results.db", "SELECT run, matched, missing FROM kreplay_application_run")
        self.assertEqual(rows, [(1, 6, 0), (2, 3, 3), (3, 6, 0)])


if __name__ == "__main__":
    unittest.main()
