# SPDX-License-Identifier: MIT
"""Every sample of examples/tools in a HIP program whose result shows whether replay is right; and how a user's tool and
kreplay's own share a process."""
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "softgpu"))
import harness  # noqa: E402

TOOLS = harness.BUILD / "examples" / "tools"
PROGRAM = (harness.EXAMPLES / "in_place", "4096")  # three launches of one kernel, 512 work-groups of 8 waves
WAVES = 512 * 8


class Run:
    """kreplay with a tool; `lines` are what the tool said, without its name."""

    def __init__(self, tool, *options, groups=(), program=PROGRAM, **environment):
        self.folder = tempfile.TemporaryDirectory(prefix="kreplay-test-")
        command = [harness.KREPLAY, "run"]
        for group in groups:
            command += ["--pmc", *group.split()]
        command += ["--tool", TOOLS / f"{tool}.so", "-f", "json", "-d", self.folder.name, "-o", "out", "--soft-gpu", *options,
                    "--", *program]
        self.result = harness.run(command, **environment)
        self.stdout, self.stderr = self.result.stdout, self.result.stderr
        self.lines = [line.removeprefix(f"{tool}: ") for line in self.stderr.splitlines() if line.startswith(f"{tool}: ")]

    @property
    def files(self):
        return sorted(p.name for p in pathlib.Path(self.folder.name).iterdir())

    @property
    def process(self):
        return json.loads((pathlib.Path(self.folder.name) / "out_results.json").read_text())["rocprofiler-sdk-tool"][0]

    def explain(self):
        return f"exit status {self.result.returncode}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


class Case(unittest.TestCase):
    def run_tool(self, tool, *options, **keywords):
        run = Run(tool, *options, **keywords)
        self.assertEqual(run.result.returncode, 0, run.explain())
        self.assertIn("PASS", run.stdout, run.explain())
        return run

    def dispatches(self, run, pattern):
        """The groups of `pattern` for each line about a dispatch."""
        found = [re.fullmatch(pattern, line) for line in run.lines]
        self.assertTrue(found and all(found), run.explain())
        return [match.groups() for match in found]


class Samples(Case):
    def test_fixed_passes(self):
        run = self.run_tool("fixed_passes", "--tool-only")
        counts = self.dispatches(run, r"dispatch \d+ \S*add_in_place\S*: 4 passes, reason none, SQ_WAVES (\d+) (\d+) (\d+) (\d+)")
        self.assertEqual(counts, [(str(WAVES),) * 4] * 3)
        self.assertEqual(run.files, [])

    def test_which_passes_collect(self):
        """The reference's matrix: stop and start by pass -> the passes that collect."""
        for stop, start, passes in ((None, None, {0, 1, 2, 3}), (0, None, set()), (1, None, {0}), (1, 2, {0, 2, 3})):
            with self.subTest(stop=stop, start=start):
                environment = {} if stop is None else {"TOOL_STOP_PASS": str(stop)}
                if start is not None:
                    environment["TOOL_START_PASS"] = str(start)
                run = self.run_tool("counters_per_pass", "--tool-only", **environment)
                found = self.dispatches(run, r"dispatch (\d+) pass (\d): (nothing|(?:(\w+) (\d+)))")
                self.assertEqual(len(found), 3 * 4)
                self.assertEqual({int(f[1]) for f in found if f[3]}, passes)
                names = {int(f[1]): f[3] for f in found if f[3]}
                wanted = dict(enumerate(["SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "GRBM_COUNT"]))
                self.assertEqual(names, {n: wanted[n] for n in passes})
                self.assertTrue(all(int(f[4]) > 0 for f in found if f[3]))
                self.assertTrue(all(int(f[4]) == WAVES for f in found if f[3] == "SQ_WAVES"))

    def test_early_exit(self):
        run = self.run_tool("early_exit", "--tool-only")
        self.assertEqual(self.dispatches(run, r"dispatch \d+: (\d) of (\d) passes"), [("2", "8")] * 3)

    def test_user_data(self):
        run = self.run_tool("user_data", "--tool-only")
        for passes, least, most in self.dispatches(run, r"dispatch \d+: (\d) passes, (\d+) to (\d+) ns"):
            self.assertEqual(passes, "5")
            self.assertLessEqual(int(least), int(most))
            self.assertGreater(int(least), 0)

    def test_until_stable(self):
        run = self.run_tool("until_stable", "--tool-only")
        found = self.dispatches(run, r"dispatch \d+: (\d+) passes, (\d+) ns(, not stable)?")
        self.assertEqual(len(found), 3)
        for passes, mean, unstable in found:
            self.assertGreaterEqual(int(passes), 3)
            self.assertLessEqual(int(passes), 40)
            if unstable:  # the limit of the sample is the only other way to end
                self.assertEqual(int(passes), 40)
            self.assertGreater(int(mean), 0)


class Joining(Case):
    GROUPS = ("SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU")

    def outcomes(self, run):
        return [(o["outcome"], o["executed_passes"]) for o in run.process["kreplay"]["dispatches"]]

    def test_opt_out(self):
        run = self.run_tool("opt_out", groups=self.GROUPS, TOOL_OPT_OUT="add_in_place")
        self.assertEqual(run.lines, ["0 dispatches measured, 3 left out"])
        self.assertEqual(self.outcomes(run), [("filtered", 0)] * 3)
        self.assertFalse(run.process["callback_records"]["counter_collection"])
        run = self.run_tool("opt_out", groups=self.GROUPS, TOOL_OPT_OUT="another")
        self.assertEqual(run.lines, ["3 dispatches measured, 0 left out"])
        self.assertEqual(self.outcomes(run), [("replayed", 3)] * 3)

    def test_phase_timing(self):
        run = self.run_tool("phase_timing", groups=self.GROUPS)
        found = self.dispatches(run, r"(\w+) +(\d+) times, (\d+) ns, (\d+) bytes compared, (\d+) moved")
        steps = {word: [int(n) for n in numbers] for word, *numbers in found}
        outcomes = run.process["kreplay"]["dispatches"]
        for step, times in (("snapshot", 3), ("compare", 3), ("restore", 6), ("finish", 3)):
            self.assertEqual(steps[step][0], times)
            self.assertEqual(steps[step][1], sum(o[f"{step}_ns"] for o in outcomes), step)
        self.assertEqual(steps["restore"][3] + steps["finish"][3], sum(o["restored_bytes"] for o in outcomes))
        self.assertEqual(steps["compare"][2] + steps["finish"][2], sum(o["compared_bytes"] for o in outcomes))

    def test_without_groups_the_files_have_what_the_tool_collects(self):
        run = self.run_tool("fixed_passes")
        self.assertEqual(self.outcomes(run), [("replayed", 4)] * 3)
        names = {c["id"]["handle"]: c["name"] for c in run.process["counters"]}
        records = run.process["callback_records"]["counter_collection"]
        self.assertEqual(len(records), 3 * 4)
        for record in records:
            self.assertEqual({names[r["counter_id"]["handle"]] for r in record["records"]}, {"SQ_WAVES"})
            self.assertEqual(sum(r["value"] for r in record["records"]), WAVES)

    def test_the_tool_has_the_last_word(self):
        """early_exit asks for at most 8 passes of its own where kreplay's tool has planned 3."""
        run = self.run_tool("early_exit", groups=self.GROUPS)
        self.assertEqual(self.outcomes(run), [("replayed", 2)] * 3)


class Alone(Case):
    def test_nothing_is_written(self):
        run = self.run_tool("user_data", "--tool-only")
        self.assertEqual(run.files, [])

    def test_without_the_command(self):
        """KREPLAY_TOOL and KREPLAY_TOOL_ONLY are enough for who loads the library."""
        result = harness.plain(*PROGRAM, HSA_TOOLS_LIB=str(harness.BUILD / "lib" / "libkreplay.so"),
                               KREPLAY_TOOL=str(TOOLS / "early_exit.so"), KREPLAY_TOOL_ONLY="on")
        self.assertIn("early_exit: dispatch", result.stderr)
        self.assertIn("PASS", result.stdout)

    def test_without_a_gpu_program(self):
        run = Run("user_data", "--tool-only", program=("true",))
        self.assertEqual((run.result.returncode, run.lines), (0, []), run.explain())


class Refused(Case):
    def kreplay(self, *arguments, **environment):
        return harness.run([harness.KREPLAY, "run", "--soft-gpu", *arguments], **environment)

    def test_before_the_start(self):
        for words, *arguments in (("the tool cannot be read: ./none.so", "--tool", "./none.so"),
                                  ("--tool-only goes with --tool", "--tool-only", "true", "--pmc", "SQ_WAVES"),
                                  ("--tool-only goes with --tool", "--tool", TOOLS / "user_data.so", "--tool-only", "--pmc",
                                   "SQ_WAVES")):
            with self.subTest(words):
                result = self.kreplay(*arguments, "--", "echo", "started")
                self.assertEqual((result.returncode, result.stdout), (2, ""), result.stderr)
                self.assertIn(words, result.stderr)

    def test_in_the_process(self):
        """What is no tool does not keep the program from running, nor kreplay's own tool from counting."""
        with tempfile.TemporaryDirectory(prefix="kreplay-test-") as folder:
            text = pathlib.Path(folder) / "text.so"
            text.write_text("no library")
            for library, words in ((text, "the tool cannot be loaded"),
                                   (harness.BUILD / "lib/softgpu/libhsakmt.so.1", "has no function kreplay_tool_start")):
                result = self.kreplay("--tool", library, "--pmc", "SQ_WAVES", "-f", "json", "-d", folder, "-o", "out", "--",
                                      *PROGRAM)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("PASS", result.stdout)
                self.assertIn(words, result.stderr)
                self.assertTrue((pathlib.Path(folder) / "out_results.json").exists())
                (pathlib.Path(folder) / "out_results.json").unlink()


if __name__ == "__main__":
    unittest.main()
