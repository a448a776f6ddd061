# SPDX-License-Identifier: MIT
"""One program under kreplay, and one under ncu: what each found."""
import csv
import io
import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import time


class Run:
    """A program under kreplay: exit status, output, and the database."""

    def __init__(self, build, groups, command, extra=None):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        options = sum((["--pmc", *group] for group in groups), [])
        start = time.monotonic()
        try:
            done = subprocess.run([build / "bin/kreplay", "run", *options, "-d", self.folder, "-o", "out", "--output-format",
                                   "json", "csv", "rocpd", "--", *command],
                                  capture_output=True, text=True, timeout=60, env={**os.environ, **(extra or {})})
        except subprocess.TimeoutExpired:
            shutil.rmtree(self.folder)
            raise
        self.seconds = time.monotonic() - start
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        databases = list(self.folder.glob("*.db"))
        self.db = sqlite3.connect(databases[0]) if databases else None

    def rows(self, sql):
        return self.db.execute(sql).fetchall() if self.db else []

    def outcomes(self):
        return self.rows("SELECT s.kernel_name, o.kind, o.reason, o.executed_passes, o.deterministic, o.dispatch_id"
                         " FROM kreplay_outcome o JOIN rocpd_kernel_dispatch k ON k.id = o.dispatch_id"
                         " JOIN rocpd_info_kernel_symbol s ON s.id = k.kernel_id ORDER BY o.dispatch_id")

    def values(self):
        """(dispatch, metric) -> value of the first pass that has it"""
        found = {}
        for dispatch, name, value in self.rows("SELECT v.dispatch_id, i.name, v.value FROM kreplay_value v"
                                               " JOIN rocpd_info_pmc i ON i.id = v.counter_id ORDER BY v.pass"):
            found.setdefault((dispatch, name), value)
        return found

    def close(self):
        if self.db:
            self.db.close()
        shutil.rmtree(self.folder)


def ncu_values(program, metrics, *options):
    """(dispatch, metric) -> value; empty when ncu gave no table."""
    done = subprocess.run(["ncu", "--metrics", ",".join(metrics), "--cache-control", "none", "--clock-control", "none",
                           "--csv", "--print-units", "base", "--print-fp", *options, *program],
                          capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        print(done.stdout[-800:], done.stderr[-800:])
        return {}
    found = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        try:
            found[int(row["ID"]) + 1, row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
        except (KeyError, ValueError):
            pass
    return found
