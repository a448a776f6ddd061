# SPDX-License-Identifier: MIT
"""Small programs that are each hard to replay in one way: right alone and under 1, 3 and 5 groups, with the outcome that
each dispatch must have."""
import unittest

import harness
import shares

GROUPS = [f"SQ_WAVES {unique}" for unique in
          ("GRBM_COUNT", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_LDS")]
SIZES = (1, 3, 5)
NS_PER_TICK = 40  # of the GPU's clock
SLACK_NS = 20000


class Case(unittest.TestCase):
    def alone(self, program, mode, status=0, **environment):
        result = harness.plain(harness.APPS / program, mode, **environment)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def replay(self, program, mode, passes, status=0, **environment):
        replay = harness.Replay(GROUPS[:passes], harness.APPS / program, mode, **environment)
        self.assertEqual(replay.result.returncode, status, replay.explain())
        return replay

    @staticmethod
    def records(replay):
        """The kernel dispatches that the program itself makes; HIP fills memory with kernels of its own."""
        names = {k["kernel_id"]: k["formatted_kernel_name"] for k in replay.process["kernel_symbols"]}
        return [r for r in replay.process["buffer_records"]["kernel_dispatch"]
                if not names[r["dispatch_info"]["kernel_id"]].startswith("__amd_rocclr")]

    def outcomes(self, replay):
        by_id = {o["dispatch_id"]: o for o in replay.process["kreplay"]["dispatches"]}
        return [by_id[r["dispatch_info"]["dispatch_id"]] for r in self.records(replay)]

    def note_shares(self, replay):
        shares.note(self.id().removeprefix("__main__."), replay.process["kreplay"]["dispatches"])

    def each(self, check, program, mode, dispatches, sizes=SIZES, **environment):
        """check(passes, outcomes of the program's dispatches, run) for each number of groups, once the program is right
        alone."""
        self.assertIn("PASS", self.alone(program, mode, **environment).stdout)
        for passes in sizes:
            with self.subTest(mode=mode, passes=passes):
                replay = self.replay(program, mode, passes, **environment)
                self.assertIn("PASS", replay.result.stdout)
                outcomes = self.outcomes(replay)
                self.assertEqual(len(outcomes), dispatches)
                if passes > 1:
                    self.note_shares(replay)
                check(passes, outcomes, replay)

    def assert_replayed(self, outcomes, passes, deterministic=True):
        """One group needs no replay: the dispatch runs once and is counted."""
        for o in outcomes:
            self.assertEqual((o["outcome"], o["executed_passes"], o["deterministic"], o["restore_retries"]),
                             ("single" if passes == 1 else "replayed", passes, deterministic, 0), o)

    def all_replayed(self, program, mode, dispatches, sizes=SIZES, **environment):
        def check(passes, outcomes, replay):
            self.assert_replayed(replay.process["kreplay"]["dispatches"], passes)
            counted = [(r["dispatch_data"]["dispatch_info"]["dispatch_id"], r["replay_pass"])
                       for r in replay.process["callback_records"]["counter_collection"]]
            wanted = [(o["dispatch_id"], n) for o in replay.process["kreplay"]["dispatches"] for n in range(passes)]
            self.assertEqual(sorted(counted), sorted(wanted))

        self.each(check, program, mode, dispatches, sizes, **environment)

    def assert_declined(self, replay, outcomes, reason):
        """Declined dispatches run once and have no counters."""
        ids = {o["dispatch_id"] for o in outcomes}
        self.assertEqual({(o["outcome"], o["reason"], o["executed_passes"]) for o in outcomes},
                         {("declined", reason, 0)}, outcomes)
        self.assertFalse([r for r in replay.process["callback_records"]["counter_collection"]
                          if r["dispatch_data"]["dispatch_info"]["dispatch_id"] in ids])


class Streams(Case):
    def test_events_order_two_streams(self):
        self.all_replayed("streams", "events", 10)

    def test_elapsed_times(self):
        self.all_replayed("streams", "elapsed", 4)

    def test_two_threads(self):
        self.all_replayed("streams", "two_threads", 20)

    def test_callbacks(self):
        self.all_replayed("streams", "callbacks", 4)


class OtherSetups(Case):
    def test_without_direct_dispatch(self):
        self.all_replayed("streams", "events", 10, AMD_DIRECT_DISPATCH="0")
        self.all_replayed("streams", "callbacks", 4, AMD_DIRECT_DISPATCH="0")

    def test_two_gpus(self):
        def check(passes, outcomes, replay):
            self.assert_replayed(outcomes, passes)
            gpus = [r["dispatch_info"]["agent_id"]["handle"] for r in self.records(replay)]
            self.assertEqual(sorted(gpus.count(gpu) for gpu in set(gpus)), [3, 3], gpus)

        self.each(check, "streams", "two_gpus", 6, SOFTGPU_DEVICES="2")


class Many(Case):
    def test_3000_launches(self):
        self.all_replayed("streams", "many", 3000, sizes=(3,))


class Memory(Case):
    def test_copies_and_fills(self):
        self.all_replayed("memory", "copies", 18)

    def test_variables(self):
        self.all_replayed("memory", "variables", 4)

    def test_freed_and_allocated_again(self):
        self.all_replayed("memory", "reuse", 12)

    def test_pinned_host_memory_is_declined(self):
        def check(passes, outcomes, replay):
            if passes == 1:
                self.assert_replayed(outcomes, 1)
            else:
                self.assert_declined(replay, outcomes, "host_memory")

        self.each(check, "memory", "pinned", 3)


class Kernels(Case):
    def test_printf_is_declined_and_printed_once(self):
        def check(passes, outcomes, replay):
            self.assertEqual(sorted(line for line in replay.result.stdout.splitlines() if line.startswith("hello")),
                             [f"hello from work-item 5 of work-group {n}" for n in range(3)])
            if passes == 1:
                self.assert_replayed(outcomes, 1)
            else:
                self.assert_declined(replay, outcomes, "unsafe_kernel")

        self.each(check, "kernels", "says", 1)

    def test_printf_is_repeated_on_request(self):
        replay = self.replay("kernels", "says", 3, KREPLAY_DECLINE_HOSTCALL="0")
        self.assert_replayed(self.outcomes(replay), 3)
        self.assertEqual(replay.result.stdout.count("hello from work-item 5"), 3 * 3)

    def test_kernels_by_name(self):
        replay = self.replay("kernels", "histogram", 3, KREPLAY_DECLINE_KERNELS="+count")
        self.assert_declined(replay, self.outcomes(replay), "unsafe_kernel")
        self.assertIn("KREPLAY_DECLINE_KERNELS", replay.result.stderr)

    def test_histogram(self):
        self.all_replayed("kernels", "histogram", 3)

    def test_memory_is_the_live_runs_even_if_each_run_differs(self):
        """The kernel stores the GPU's clock: what the program reads lies between start and end of the dispatch as the
        program's own execution had them, pass 0, and the passes after that do not overlap with it."""
        def check(passes, outcomes, replay):
            self.assert_replayed(outcomes, passes, deterministic=passes == 1)
            stamps = [[int(word) * NS_PER_TICK for word in line.split()[1:]]
                      for line in replay.result.stdout.splitlines() if line.startswith("stamp")]
            for (first, last), record in zip(stamps, self.records(replay), strict=True):
                # The runtime converts the GPU's times to the system's clock: a little is lost.
                self.assertLessEqual(record["start_timestamp"], first + SLACK_NS)
                self.assertLessEqual(last, record["end_timestamp"] + SLACK_NS)

        self.each(check, "kernels", "clock", 3)


class HostPointers(Case):
    def test_host_memory_behind_device_memory(self):
        """Found in the memory that the live execution left, not in the arguments: no pass follows."""
        def check(passes, outcomes, _):
            wanted = ("single", "none") if passes == 1 else ("declined", "host_memory")
            for o in outcomes:
                self.assertEqual((o["outcome"], o["reason"]), wanted, o)

        self.each(check, "host_pointers", "all", 7)


class Leave(Case):
    def test_exit_without_waiting(self):
        self.alone("leave", "exit", status=17)
        for passes in SIZES:
            with self.subTest(passes=passes):
                replay = self.replay("leave", "exit", passes, status=17)
                self.assert_replayed(self.outcomes(replay), passes)
                self.assertEqual(len(self.outcomes(replay)), 5)

    def test_leaving_at_once(self):
        """How many dispatches were complete is open; those that were are whole."""
        self.alone("leave", "_exit", status=17)
        for passes in SIZES:
            with self.subTest(passes=passes):
                replay = self.replay("leave", "_exit", passes, status=17)
                self.assert_replayed(self.outcomes(replay), passes)
                self.assertLessEqual(len(self.outcomes(replay)), 5)


if __name__ == "__main__":
    unittest.main()
