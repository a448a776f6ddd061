# SPDX-License-Identifier: MIT
"""The folder of a run, its index, and `kreplay convert` from a log, a database and both kinds of folder."""
import json
import unittest

import runs
from runs import GROUPS, harness

PROGRAM = [harness.EXAMPLES / "three_kernels", *runs.SMALL]
FORMATS = {"json": ["out_results.json"], "rocpd": ["out_results.db"],
           "csv": ["out_agent_info.csv", "out_counter_collection.csv", "out_kernel_trace.csv"]}
OUTPUTS = sorted(sum(FORMATS.values(), []))


def index(folder):
    with open(folder / "index.json", encoding="utf-8") as file:
        return json.load(file)


class Convert(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        options = ["--keep-logs", "-f", "json", "csv", "rocpd", "--replay-mode"]
        cls.kernel = runs.Files(GROUPS, options + ["kernel"], *PROGRAM)
        cls.application = runs.Files(GROUPS, options + ["application"], *PROGRAM)

    def convert(self, files, source, *formats):
        target = files.folder / ("converted-" + "-".join(formats) + "-" + source.replace("/", "_"))
        result = harness.run([harness.KREPLAY, "convert", "-i", files.folder / source, "-f", *formats, "-d", target,
                              "-o", "out"])
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return target

    def same(self, files, source, but=()):
        """All formats from this source are what the run wrote itself, each alone and all together."""
        together = self.convert(files, source, *FORMATS)
        self.assertEqual(sorted(path.name for path in together.iterdir()), OUTPUTS)
        for name in OUTPUTS:
            if name.endswith(".db"):
                self.assertEqual(runs.counters(together / name, "%"), runs.counters(files.folder / name, "%"))
            elif name not in but:
                self.assertEqual((together / name).read_text(), (files.folder / name).read_text(), name)
        for kind, names in FORMATS.items():
            alone = self.convert(files, source, kind)
            self.assertEqual(sorted(path.name for path in alone.iterdir()), names)

    def log(self, files, folder):
        return f"{folder}/" + index(files.folder / folder)["processes"][0]["log"]

    def test_from_log(self):
        self.same(self.kernel, self.log(self.kernel, "out_run"))

    def test_from_database(self):
        self.same(self.kernel, "out_results.db")
        self.same(self.application, "out_results.db")

    def test_from_folder(self):
        self.same(self.kernel, "out_run")

    def test_from_folder_of_application_replay(self):
        self.same(self.application, "out_run")
        self.assertEqual(runs.ask(self.convert(self.application, "out_run", "rocpd") / "out_results.db",
                                  "SELECT mode, exit_status FROM kreplay_run"), [("application", 0)])

    def test_from_one_pass(self):
        target = self.convert(self.application, "out_run/pass_2", "csv")
        self.assertEqual((target / "out_counter_collection.csv").read_text(),
                         (self.application.folder / "pass_2" / "out_counter_collection.csv").read_text())

    def test_database_onto_itself(self):
        result = harness.run([harness.KREPLAY, "convert", "-i", self.kernel.folder / "out_results.db", "-f", "rocpd",
                              "-d", self.kernel.folder, "-o", "out"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(runs.counters(self.kernel.folder / "out_results.db"))

    def test_index(self):
        folder = self.kernel.folder / "out_run"
        got = index(folder)
        run_id = runs.ask(self.kernel.folder / "out_results.db", "SELECT run_id FROM kreplay_run")[0][0]
        self.assertEqual((got["run_id"], got["mode"], got["exit_status"]), (run_id, "kernel", 0))
        self.assertEqual(got["command"], [str(word) for word in PROGRAM])
        self.assertEqual(got["groups"], [group.split() for group in GROUPS])
        process, = got["processes"]
        self.assertEqual((process["log"], process["dispatches"], process["complete"], process["damaged"]),
                         (f"{process['pid']}.krlog", 3, True, False))
        self.assertEqual(got["passes"], [])

    def test_index_of_application_replay(self):
        folder = self.application.folder / "out_run"
        got = index(folder)
        self.assertEqual((got["mode"], got["processes"]), ("application", []))
        self.assertEqual([entry["folder"] for entry in got["passes"]], ["pass_1", "pass_2", "pass_3"])
        for number, entry in enumerate(got["passes"]):
            inner = index(folder / entry["folder"])
            self.assertEqual(inner["run_id"], entry["run_id"])
            self.assertEqual(inner["groups"], [GROUPS[number].split()])
            self.assertEqual(len(inner["processes"]), 1)

    def test_index_of_a_killed_program(self):
        files = runs.Files(GROUPS[:1], ["--keep-logs"], "sh", "-c", f"{PROGRAM[0]} 65536 1; kill -SEGV $$")
        self.assertEqual(files.result.returncode, 139, files.explain())
        got = index(files.folder / "out_run")
        self.assertEqual((got["exit_status"], got["signal"]), (139, "Segmentation fault"))


if __name__ == "__main__":
    unittest.main()
