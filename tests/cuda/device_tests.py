#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the CUDA programs of a build on this machine's GPU, plain and under kreplay, and holds the records against what
each program must show; compares values with ncu. Usage: device_tests.py BUILD [--only tests|values] [--out FOLDER]"""
import argparse
import csv
import io
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

TEN = ["smsp__inst_executed.sum", "smsp__warps_launched.sum", "sm__cycles_elapsed.max", "dram__bytes_read.sum",
       "lts__t_sectors.sum", "l1tex__t_sectors.sum", "sm__inst_executed_pipe_fma.sum",
       "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
       "l1tex__data_bank_conflicts_pipe_lsu.sum", "gpu__time_duration.sum"]
GROUPS = {1: [TEN[:3]], 3: [TEN[:2], TEN[2:5], TEN[5:]], 10: [[name] for name in TEN]}

# Counts that must be the same; then those that may differ by a share.
EXACT = ["smsp__inst_executed.sum", "smsp__thread_inst_executed.sum",
         "smsp__warps_launched.sum", "sm__ctas_launched.sum", "sm__threads_launched.sum",
         "sm__inst_executed_pipe_fma.sum", "sm__inst_executed_pipe_alu.sum", "sm__inst_executed_pipe_lsu.sum",
         "smsp__inst_executed_op_branch.sum", "l1tex__t_sectors.sum", "l1tex__t_requests.sum",
         "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
         "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
         "smsp__inst_executed_op_shared_ld.sum"]
# metric -> share, and number, by which medians may differ. What reaches L2 and memory depends on what the caches hold,
# and two profilers put different traffic between the passes: those are shown and not judged.
NEAR = {"smsp__inst_issued.sum": (0.05, 0), "lts__t_sectors_op_write.sum": (0.05, 500),
        "sm__cycles_elapsed.max": (0.10, 500), "gpu__time_duration.sum": (0.05, 100),
        "lts__t_sectors_op_read.sum": None, "dram__bytes_write.sum": None}
REPEATS = 3

# What the outcomes of a program must be: kernel (part of its name) -> outcome:reason -> how often ("+" = at least once).
REPLAYED = "replayed:none"
EXPECTED = {
    "inplace": {"saxpy": {REPLAYED: 3}, "fill": {REPLAYED: 6}},
    "global": {"bump": {REPLAYED: 5}, "read_threads": {REPLAYED: 5}},
    "streams": {"multiply_add": {REPLAYED: 8}},
    "threads": {"add": {REPLAYED: 24}},
    "graph": {"add": {REPLAYED: 2, "declined:stream_capture": 1}, "cuGraphLaunch": {"declined:unknown_packet": 3}},
    "managed": {"add": {"declined:untracked_memory": 2, REPLAYED: 1}},
    "printing": {"say": {"declined:unsafe_kernel": 1}},
    "cooperative": {"rotate": {REPLAYED: 3}},
    "hosts": {"add": {"declined:host_memory": 1, "declined:untracked_memory": 1, REPLAYED: 1}, "now": {REPLAYED: 1}},
    "waiting": {"wait_for": {"declined:live_run_stuck": 1}, "raise": {"declined:agent_drain_stuck": 1}},
}
ENVIRONMENT = {"waiting": {"KREPLAY_LIVE_MS": "1000", "KREPLAY_AGENT_DRAIN_MS": "1000", "CUDA_MODULE_LOADING": "EAGER"}}

failures = []


def check(holds, text):
    print(("ok      " if holds else "FAILED  ") + text, flush=True)
    if not holds:
        failures.append(text)


class Run:
    """A program under kreplay: exit status, output, and the database."""

    def __init__(self, build, groups, command, extra=None):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        options = sum((["--pmc", *group] for group in groups), [])
        start = time.monotonic()
        done = subprocess.run([build / "bin/kreplay", "run", *options, "-d", self.folder, "-o", "out", "--output-format",
                               "json", "csv", "rocpd", "--", *command],
                              capture_output=True, text=True, timeout=60, env={**os.environ, **(extra or {})})
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


def count(outcomes):
    seen = {}
    for kernel, kind, reason, *_ in outcomes:
        key = f"{kind}:{reason}"
        seen.setdefault(kernel, {}).setdefault(key, 0)
        seen[kernel][key] += 1
    return seen


def run_programs(build):
    for name, expected in EXPECTED.items():
        program = build / "tests/cuda" / name
        plain = subprocess.run([program], capture_output=True, text=True, timeout=60,
                               env={**os.environ, **ENVIRONMENT.get(name, {})})
        check(plain.returncode == 0, f"{name}: right when plain {plain.stdout.strip()[:200]}")
        for passes, groups in GROUPS.items():
            try:
                run = Run(build, groups, [program], ENVIRONMENT.get(name))
            except subprocess.TimeoutExpired as late:
                check(False, f"{name}, {passes} groups: did not end: {late.stderr}")
                continue
            check(run.status == 0 and run.out.startswith(plain.stdout),
                  f"{name}, {passes} groups: right and says the same ({run.seconds:.1f} s)")
            seen = count(run.outcomes())
            for part, wanted in expected.items():
                got = {}
                for kernel, outcomes in seen.items():
                    if part in kernel:
                        for key, times in outcomes.items():
                            key = REPLAYED if key == "single:none" and passes == 1 else key
                            got[key] = got.get(key, 0) + times
                check(got == wanted, f"{name}, {passes} groups: {part}: {got}" + ("" if got == wanted else f", not {wanted}"))
            full = [o for o in run.outcomes() if o[1] in ("replayed", "single")]
            check(all(o[3] == passes for o in full), f"{name}, {passes} groups: {len(full)} dispatches have all passes")
            values = run.values()
            holes = [(o[5], m) for o in full for g in groups for m in g if (o[5], m) not in values and ".ratio" not in m]
            check(not holes, f"{name}, {passes} groups: every counter has a value {holes[:3]}")
            if name == "hosts":
                check([o[4] for o in full if "now" in o[0]] == [0], f"{name}: the clock kernel is found to differ")
            else:
                check(all(o[4] for o in full), f"{name}: every dispatch is deterministic")
            if passes == 1 and run.err:
                print("        " + "\n        ".join(line for line in run.err.splitlines() if "[kernel-replay]" not in line
                                                    and "wrote" not in line and line.startswith("kreplay"))[:700])
            if run.status != 0 or not seen:
                print(run.out[-600:], run.err[-1500:])
            run.close()


def break_on_purpose(build):
    """The tests must be able to fail. Without restores memory differs after the last pass and is put back, which the
    outcome says; without that either, the program's own check fails."""
    for name in ("inplace", "global", "cooperative"):
        run = Run(build, GROUPS[3], [build / "tests/cuda" / name], {"KREPLAY_FAULT": "restore"})
        check(run.status == 0 and not all(o[4] for o in run.outcomes()), f"{name}, no restores: found and put right")
        run.close()
        run = Run(build, GROUPS[3], [build / "tests/cuda" / name], {"KREPLAY_FAULT": "restore,finish"})
        check(run.status == 1, f"{name}, no restores and nothing put back: the program's check fails ({run.status})")
        run.close()


def ncu_values(program, metrics):
    done = subprocess.run(["ncu", "--metrics", ",".join(metrics), "--cache-control", "none", "--clock-control", "none",
                           "--csv", "--print-units", "base", "--print-fp", program], capture_output=True, text=True, timeout=300)
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


def compare_values(build):
    """The second launch of each kernel; counts must be the same each time, the others are medians."""
    program = build / "tests/cuda/five"
    metrics = EXACT + list(NEAR)
    ours, theirs, names = {}, {}, {}
    for _ in range(REPEATS):
        for place, value in ncu_values(program, metrics).items():
            theirs.setdefault(place, []).append(value)
        run = Run(build, [metrics], [program])
        for place, value in run.values().items():
            ours.setdefault(place, []).append(value)
        names = {o[5]: o[0] for o in run.outcomes()}
        check(run.status == 0 and len(names) == 10, f"five: {len(names)} dispatches {run.err[-300:] if run.status else ''}")
        run.close()
    second = range(6, 11)
    print(f"{'kreplay/ncu':50} " + " ".join(f"{names.get(d, '').lstrip('_Z0123456789')[:14]:>21}" for d in second))
    for metric in metrics:
        cells = []
        for dispatch in second:
            a, b = ours.get((dispatch, metric), []), theirs.get((dispatch, metric), [])
            if len(a) != REPEATS or len(b) != REPEATS:
                check(False, f"{metric} of dispatch {dispatch}: kreplay {a}, ncu {b}")
                continue
            x, y = statistics.median(a), statistics.median(b)
            same = set(a) == set(b) and len(set(a)) == 1
            if metric in NEAR:
                share, number = NEAR[metric] or (1, float("inf"))
                same = abs(x - y) <= max(share * y, number)
            cells.append(f"{x:.7g}/{y:.7g}{'' if same else ' !'}")
            if not same:
                check(False, f"{metric} of dispatch {dispatch}: kreplay {a}, ncu {b}")
        print(f"{metric:50} " + " ".join(f"{c:>21}" for c in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--only", choices=["tests", "values", "faults"])
    options = parser.parse_args()
    if options.only == "faults":
        break_on_purpose(options.build)
    elif options.only != "values":
        run_programs(options.build)
        break_on_purpose(options.build)
    if options.only in (None, "values"):
        compare_values(options.build)
    print(f"\n{len(failures)} failed")
    for text in failures:
        print("  " + text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
