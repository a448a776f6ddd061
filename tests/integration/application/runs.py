# SPDX-License-Identifier: MIT
"""Runs kreplay with files in a folder of its own, and reads databases and CSV files."""
import atexit
import csv
import pathlib
import shutil
import sqlite3
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "softgpu"))
import harness  # noqa: E402

SMALL = ["65536", "1"]  # elements and iterations of three_kernels
GROUPS = [f"SQ_WAVES SQ_INSTS_VALU {unique}" for unique in ("SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_LDS")]
FIVE_GROUPS = GROUPS + [f"SQ_WAVES SQ_INSTS_VALU {unique}" for unique in ("GRBM_COUNT", "GRBM_GUI_ACTIVE")]


class Files:
    """kreplay with these groups, options and program; files are `folder`/out_*."""

    def __init__(self, groups, options, *program, name=None, **environment):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kreplay-test-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        command = [harness.KREPLAY]
        if name:
            link = self.folder / name
            link.symlink_to(harness.KREPLAY)
            command = [link]
        for group in groups:
            command += ["--pmc", *group.split()]
        command += ["-d", self.folder, "-o", "out", "--soft-gpu", *options, "--", *program]
        self.result = harness.run(command, **environment)

    def names(self):
        """Paths of all files below the folder, without links."""
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*")
                      if path.is_file() and not path.is_symlink())

    def explain(self):
        return f"exit status {self.result.returncode}\n{self.result.stdout}\n{self.result.stderr}"


def ask(path, query, *values):
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return connection.execute(query, values).fetchall()
    finally:
        connection.close()


def counters(path, names="SQ_%"):
    """{(process in order of start, dispatch, counter): value}; by default those that do not depend on time."""
    rows = ask(path, "SELECT (SELECT rowid FROM kreplay_process p WHERE p.guid = c.guid), dispatch_id, counter_name, value"
                     " FROM counters_collection c WHERE counter_name LIKE ?", names)
    return {row[:3]: row[3] for row in rows}


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
