# SPDX-License-Identifier: MIT
"""The examples on the software GPU: right alone, right under replay, right numbers, and wrong when replay is broken."""
import unittest

import harness
import validate

GROUPS = [f"SQ_WAVES SQ_INSTS_VALU {unique}" for unique in
          ("GRBM_COUNT", "GRBM_GUI_ACTIVE", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_LDS")]
KERNELS = [validate.Kernel("vector_add", 1024 * 1024, 1024, 16384), validate.Kernel("saxpy_in_place", 512 * 512, 512, 4096),
           validate.Kernel("scale_in_place", 256 * 256, 256, 1024)]


class Plain(unittest.TestCase):
    def test_examples_pass(self):
        for name in ("three_kernels", "in_place"):
            with self.subTest(name):
                result = harness.plain(harness.EXAMPLES / name)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertIn("PASS", result.stdout)


class FiveGroups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.replay = harness.Replay(GROUPS, harness.EXAMPLES / "three_kernels", "1048576", "1")
        if cls.replay.result.returncode != 0:
            raise AssertionError(cls.replay.explain())

    def test_program_is_right(self):
        self.assertIn("PASS", self.replay.result.stdout)

    def test_rules(self):
        self.assertEqual(validate.check(self.replay.document, [g.split() for g in GROUPS], KERNELS), [])

    def test_instruction_counts_do_not_depend_on_the_pass_that_asks(self):
        """SQ_INSTS_SALU asked for in group 2 equals SQ_INSTS_SALU asked for alone."""
        alone = harness.Replay(["SQ_INSTS_SALU", "SQ_WAVES"], harness.EXAMPLES / "three_kernels", "1048576", "1")
        self.assertEqual(alone.result.returncode, 0, alone.explain())

        def salu(process):
            run = validate.Run(process, [["SQ_INSTS_SALU"]])
            return {run.dispatch_id(r): run.sums(r)["SQ_INSTS_SALU"] for r in run.records
                    if "SQ_INSTS_SALU" in run.sums(r)}

        self.assertEqual(salu(self.replay.process), salu(alone.process))

    def test_every_wave_count_follows_from_geometry(self):
        run = validate.Run(self.replay.process, [g.split() for g in GROUPS])
        for record in run.records:
            info = record["dispatch_data"]["dispatch_info"]
            grid, size = info["grid_size"], info["workgroup_size"]
            groups = 1
            for axis in "xyz":
                groups *= -(-grid[axis] // size[axis])
            if any(grid[axis] % size[axis] for axis in "xyz"):
                continue  # partial groups: fewer waves; the formula is for full ones
            waves = groups * -(-size["x"] * size["y"] * size["z"] // 64)
            self.assertEqual(run.sums(record)["SQ_WAVES"], waves, run.name(record))


class InPlace(unittest.TestCase):
    def test_memory_and_module_variable_grow_once_per_launch(self):
        for groups in (GROUPS[:2], GROUPS):
            with self.subTest(passes=len(groups)):
                replay = harness.Replay(groups, harness.EXAMPLES / "in_place")
                self.assertEqual(replay.result.returncode, 0, replay.explain())
                self.assertIn("PASS", replay.result.stdout)

    def test_full_restore_strategy(self):
        replay = harness.Replay(GROUPS, harness.EXAMPLES / "in_place", KREPLAY_RESTORE="full")
        self.assertEqual(replay.result.returncode, 0, replay.explain())

    def test_goes_red_when_replay_is_broken(self):
        """Without the comparison the program's memory is wrong. A broken restore alone is put right at the end of the
        window (and reported as a kernel whose result changes), so that both have to be broken to reach the program."""
        for fault in ("compare", "restore,finish"):
            with self.subTest(fault):
                replay = harness.Replay(GROUPS, harness.EXAMPLES / "in_place", KREPLAY_FAULT=fault)
                self.assertEqual(replay.result.returncode, 1, replay.explain())
                self.assertIn("FAIL", replay.result.stdout)


class DataDependent(unittest.TestCase):
    """Instruction counts that depend on memory: equal over the passes only if every pass has the live run's inputs."""

    def problems(self, **environment):
        replay = harness.Replay(GROUPS, harness.APPS / "data_dependent", **environment)
        self.assertEqual(replay.result.returncode, 0, replay.explain())  # the program itself stays right
        return validate.check(replay.document, [g.split() for g in GROUPS], dispatches=3)

    def test_equal_inputs_in_every_pass(self):
        self.assertEqual(self.problems(), [])

    def test_goes_red_when_replay_is_broken(self):
        for fault in ("shadow", "restore"):
            with self.subTest(fault):
                problems = self.problems(KREPLAY_FAULT=fault)
                self.assertTrue(any("SQ_INSTS_VALU differs over the passes" in p for p in problems), problems)


class Selection(unittest.TestCase):
    """Three kernels, four launches each: dispatches 1 to 12, saxpy_in_place is 2, 5, 8 and 11."""

    def measured(self, *options, **environment):
        """Ids of the dispatches that have values; the program is right, and every other dispatch is in the output, too."""
        replay = harness.Replay(["SQ_WAVES", "GRBM_COUNT"], harness.EXAMPLES / "three_kernels", "4096", "4",
                                options=options, **environment)
        self.assertEqual(replay.result.returncode, 0, replay.explain())
        self.assertIn("PASS", replay.result.stdout)
        outcomes = replay.process["kreplay"]["dispatches"]
        self.assertEqual([o["dispatch_id"] for o in outcomes], list(range(1, 13)))
        chosen = [o["dispatch_id"] for o in outcomes if o["outcome"] == "replayed"]
        left_out = [o for o in outcomes if o["dispatch_id"] not in chosen]
        self.assertEqual({(o["outcome"], o["reason"], o["captured_bytes"]) for o in left_out},
                         {("filtered", "not_selected", 0)} if left_out else set())
        run = validate.Run(replay.process, [["SQ_WAVES"], ["GRBM_COUNT"]])
        self.assertEqual(sorted({run.dispatch_id(r) for r in run.records}), chosen)
        return chosen

    def test_rules(self):
        for options, expected in (
                (("-k", "saxpy_in_place"), [2, 5, 8, 11]),
                (("--kernel-name", "regex:^s"), [2, 3, 5, 6, 8, 9, 11, 12]),
                (("--kernel-include-regex", r"float const\*, float const\*"), [1, 4, 7, 10]),
                (("--kernel-exclude-regex", "in_place"), [1, 4, 7, 10]),
                (("--kernel-iteration-range", "[1,[3-4]]", "--kernel-exclude-regex", "scale"), [1, 2, 7, 8, 10, 11]),
                (("--launch-skip", "4", "--launch-count", "3"), [5, 6, 7]),
                (("-k", "saxpy_in_place", "--launch-skip", "1", "-c", "2"), [5, 8]),
                (("-k", "no_such_kernel"), [])):
            with self.subTest(options):
                self.assertEqual(self.measured(*options), expected)

    def test_environment(self):
        self.assertEqual(self.measured(KREPLAY_KERNEL_NAME="saxpy_in_place", KREPLAY_LAUNCH_COUNT="1"), [2])
        self.assertEqual(self.measured("-k", "vector_add", KREPLAY_KERNEL_NAME="saxpy_in_place"), [1, 4, 7, 10])


class Split(unittest.TestCase):
    """One group of more counters than there are registers: eleven of SQ, which has eight, and two of GRBM, which has two."""

    def test_one_group_in_two_passes(self):
        sq = ("SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU SQ_INSTS_SMEM SQ_INSTS_LDS SQ_INSTS_FLAT SQ_INSTS_VMEM SQ_INSTS_VMEM_RD "
              "SQ_INSTS_VMEM_WR SQ_INSTS_BRANCH SQ_INSTS_SENDMSG").split()
        grbm = ["GRBM_COUNT", "GRBM_GUI_ACTIVE"]
        replay = harness.Replay([" ".join(sq + grbm)], harness.EXAMPLES / "three_kernels", "4096", "1")
        self.assertEqual(replay.result.returncode, 0, replay.explain())
        self.assertIn("counter group 1 needs more registers than gfx90a has: measured in 2 passes", replay.result.stderr)
        run = validate.Run(replay.process, [sq[:6] + grbm, sq[6:]])
        passes = {}
        for record in run.records:
            passes.setdefault(run.dispatch_id(record), []).append(set(run.sums(record)) - {"SQ_WAVES"})
        self.assertEqual(len(passes), 3)
        for measured in passes.values():
            self.assertEqual(measured, [set(sq[1:6] + grbm), set(sq[6:])])


class Derived(unittest.TestCase):
    """Derived counters beside a hardware counter, held against their inputs of another run."""

    @staticmethod
    def sums(replay):
        run = validate.Run(replay.process, [])
        values = {}
        for record in run.records:
            values.setdefault(run.dispatch_id(record), {}).update(run.sums(record))
        return values

    def test_values(self):
        program = [harness.EXAMPLES / "three_kernels", "4096", "1"]
        derived = harness.Replay(["GPUBusy SQ_WAVES VALUInsts"], *program)
        inputs = harness.Replay(["GRBM_COUNT GRBM_GUI_ACTIVE SQ_WAVES SQ_INSTS_VALU"], *program)
        for replay in (derived, inputs):
            self.assertEqual(replay.result.returncode, 0, replay.explain())
        expected = self.sums(inputs)
        self.assertEqual(len(expected), 3)
        for dispatch, values in self.sums(derived).items():
            base = expected.pop(dispatch)
            self.assertEqual(set(values), {"GPUBusy", "SQ_WAVES", "VALUInsts"})
            self.assertEqual(values["SQ_WAVES"], base["SQ_WAVES"])
            self.assertAlmostEqual(values["VALUInsts"], base["SQ_INSTS_VALU"] / base["SQ_WAVES"])
            self.assertAlmostEqual(values["GPUBusy"], 100 * base["GRBM_GUI_ACTIVE"] / base["GRBM_COUNT"])
        self.assertEqual(expected, {})


if __name__ == "__main__":
    unittest.main()
