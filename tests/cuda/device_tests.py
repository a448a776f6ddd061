#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the CUDA programs of a build on this machine's GPU, plain and under kreplay, and holds the records against what
each program must show; compares values with ncu. Usage: device_tests.py BUILD [--only tests|values|faults]"""
import argparse
import os
import pathlib
import subprocess
import sys

from profiled import Run
from values import compare_values

TEN = ["smsp__inst_executed.sum", "smsp__warps_launched.sum", "sm__cycles_elapsed.max", "dram__bytes_read.sum",
       "lts__t_sectors.sum", "l1tex__t_sectors.sum", "sm__inst_executed_pipe_fma.sum",
       "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
       "l1tex__data_bank_conflicts_pipe_lsu.sum", "gpu__time_duration.sum"]
GROUPS = {1: [TEN[:3]], 3: [TEN[:2], TEN[2:5], TEN[5:]], 10: [[name] for name in TEN]}

# What the outcomes of a program must be: kernel (part of its name) -> outcome:reason -> how often ("+" = at least once).
REPLAYED = "replayed:none"
EXPECTED = {
    "inplace": {"saxpy": {REPLAYED: 3}, "fill": {REPLAYED: 6}},
    "many": {"touch": {REPLAYED: 12}},
    "global": {"bump": {REPLAYED: 5}, "read_threads": {REPLAYED: 5}},
    "loading": {"bump": {REPLAYED: 24}, "add": {REPLAYED: 12}},
    "streams": {"multiply_add": {REPLAYED: 8}},
    "threads": {"add": {REPLAYED: 24}},
    "graph": {"add": {REPLAYED: 2, "declined:stream_capture": 1}, "cuGraphLaunch": {"declined:unknown_packet": 3}},
    "heap": {"touch": {REPLAYED: 1}, "build": {}, "walk": {"declined:untracked_memory": 3},
             "cuGraphLaunch": {"declined:untracked_memory": 1}},
    "sharing": {"add": {REPLAYED: 1, "declined:untracked_memory": 1}},
    "managed": {"add": {"declined:untracked_memory": 2, REPLAYED: 1}},
    "printing": {"say": {"declined:unsafe_kernel": 1}},
    "cooperative": {"rotate": {REPLAYED: 3}},
    "hosts": {"add": {"declined:host_memory": 1, "declined:untracked_memory": 1, REPLAYED: 1}, "now": {REPLAYED: 1},
              "follow": {REPLAYED: 4, "declined:host_memory": 4}},
    "waiting": {"wait_for": {"declined:live_run_stuck": 1}, "raise": {"declined:agent_drain_stuck": 1}},
}
ENVIRONMENT = {"waiting": {"KREPLAY_LIVE_MS": "1000", "KREPLAY_AGENT_DRAIN_MS": "1000", "CUDA_MODULE_LOADING": "EAGER"}}

REPEATS = 5
failures = []


def check(holds, text):
    print(("ok      " if holds else "FAILED  ") + text, flush=True)
    if not holds:
        failures.append(text)


def is_number(value):
    return value is not None and 0 <= value < float("inf")


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
            holes = [(o[5], m) for o in full for g in groups for m in g if not is_number(values.get((o[5], m)))]
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
    for name in ("inplace", "many", "global", "cooperative"):
        run = Run(build, GROUPS[3], [build / "tests/cuda" / name], {"KREPLAY_FAULT": "restore"})
        check(run.status == 0 and not all(o[4] for o in run.outcomes()), f"{name}, no restores: found and put right")
        run.close()
        run = Run(build, GROUPS[3], [build / "tests/cuda" / name], {"KREPLAY_FAULT": "restore,finish"})
        check(run.status == 1, f"{name}, no restores and nothing put back: the program's check fails ({run.status})")
        run.close()


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
        compare_values(options.build, REPEATS, check)
    print(f"\n{len(failures)} failed")
    for text in failures:
        print("  " + text)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
