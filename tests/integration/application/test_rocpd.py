# SPDX-License-Identifier: MIT
"""The database as its users ask it, with sqlite3 alone: nothing here knows kreplay but the last test."""
import unittest

import runs
from runs import FIVE_GROUPS, harness

TABLES = ["arg", "event", "info_agent", "info_code_object", "info_kernel_symbol", "info_node", "info_pmc",
          "info_process", "info_queue", "info_stream", "info_thread", "kernel_dispatch", "memory_allocate",
          "memory_copy", "metadata", "pmc_event", "region", "sample", "string", "track"]
VIEWS = ["busy", "code_objects", "counters_collection", "events_args", "kernel_symbols", "kernels", "marker_summary",
         "markers", "memory_allocations", "memory_copies", "pmc_events", "pmc_info", "processes", "range_marker_summary",
         "range_markers", "region_args", "regions", "regions_and_samples", "sample_regions", "samples",
         "scratch_memory", "single_marker_summary", "single_markers", "stream_args", "threads", "top", "top_kernels"]


class Rocpd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = runs.Files(FIVE_GROUPS, ["-f", "rocpd", "csv"], harness.EXAMPLES / "three_kernels", *runs.SMALL)
        if cls.files.result.returncode:
            raise AssertionError(cls.files.explain())
        cls.database = cls.files.folder / "out_results.db"

    def ask(self, query, *values):
        return runs.ask(self.database, query, *values)

    def test_every_table_and_view_answers(self):
        for name in [f"rocpd_{table}" for table in TABLES] + VIEWS:
            with self.subTest(name):
                self.ask(f"SELECT * FROM \"{name}\"")
        suffix, = self.ask("SELECT value FROM rocpd_metadata WHERE tag = 'uuid'")[0]
        for table in TABLES:
            with self.subTest(table + suffix):
                self.ask(f"SELECT * FROM \"rocpd_{table}{suffix}\"")
        self.assertEqual(self.ask("SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'"), [("3",)])

    def test_each_counter_once_per_dispatch(self):
        """SQ_WAVES was asked for in all five groups; 65536 work-items in groups of 1024 are 1024 waves."""
        rows = self.ask("SELECT dispatch_id, counter_name, count(*) FROM counters_collection GROUP BY 1, 2")
        self.assertEqual(len(rows), 3 * 7)
        self.assertEqual({count for _, _, count in rows}, {1})
        waves = self.ask("SELECT value, grid_size / 64 FROM counters_collection WHERE counter_name = 'SQ_WAVES'")
        self.assertEqual(len(waves), 3)
        for value, expected in waves:
            self.assertEqual(value, expected)

    def test_values_are_those_of_the_csv(self):
        first = {}
        for row in runs.read_csv(self.files.folder / "out_counter_collection.csv"):
            first.setdefault((int(row["Dispatch_Id"]), row["Counter_Name"]), float(row["Counter_Value"]))
        got = {row[:2]: row[2] for row in self.ask("SELECT dispatch_id, counter_name, value FROM counters_collection")}
        self.assertEqual(got, first)

    def test_average_of_a_counter_by_kernel(self):
        rows = self.ask("SELECT kernel_name, avg(value) FROM counters_collection WHERE counter_name = 'SQ_WAVES'"
                        " GROUP BY kernel_name")
        self.assertEqual(len(rows), 3)

    def test_kernels_once(self):
        rows = self.ask("SELECT name, duration, grid_x, workgroup_x FROM kernels ORDER BY dispatch_id")
        self.assertEqual([name.split("(")[0] for name, *_ in rows], ["vector_add", "saxpy_in_place", "scale_in_place"])
        self.assertTrue(all(duration > 0 for _, duration, *_ in rows))

    def test_top_kernels(self):
        rows = self.ask("SELECT name, total_calls, percentage FROM top_kernels")
        self.assertEqual([calls for _, calls, _ in rows], [1, 1, 1])
        self.assertAlmostEqual(sum(share for *_, share in rows), 100)
        times = [row[0] for row in self.ask("SELECT total_duration FROM top_kernels")]
        self.assertEqual(times, sorted(times, reverse=True))
        busy, = self.ask("SELECT GpuTime, WallTime, Busy FROM busy")
        self.assertAlmostEqual(busy[0], sum(times) * 1000, delta=1)
        self.assertTrue(0 < busy[2] <= 1)

    def test_passes_are_in_tables_of_our_own(self):
        rows = self.ask("SELECT count(DISTINCT pass) FROM kreplay_value GROUP BY dispatch_id")
        self.assertEqual(rows, [(5,)] * 3)


if __name__ == "__main__":
    unittest.main()
