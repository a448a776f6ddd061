#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Values of kreplay and of ncu, side by side: tests/cuda/five's second launch of each kernel, both profilers in turns.

Counts of work must be the same in every run of both. Times are compared by their medians, with the spread of both beside
them. What depends on timing or on the content of caches is shown and not judged, with what ncu finds when it runs the whole
program again for each pass, that is without saving and restoring in between.
Usage: values.py BUILD [--repeats 5] [--size 25] (smaller: kernels too short for their times to be judged)"""
import argparse
import pathlib
import statistics
import sys

from profiled import Run, ncu_values

COUNTS = ["smsp__inst_executed.sum", "smsp__thread_inst_executed.sum",
          "smsp__warps_launched.sum", "sm__ctas_launched.sum", "sm__threads_launched.sum",
          "sm__inst_executed_pipe_fma.sum", "sm__inst_executed_pipe_alu.sum", "sm__inst_executed_pipe_lsu.sum",
          "smsp__inst_executed_op_branch.sum", "smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum",
          "smsp__inst_executed_op_global_ld.sum", "smsp__inst_executed_op_global_st.sum",
          "l1tex__t_requests.sum", "l1tex__t_sectors_pipe_lsu.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
          "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
          "l1tex__m_xbar2l1tex_read_sectors.sum", "lts__t_sectors_srcunit_tex_op_read.sum",
          "lts__t_sectors_srcunit_tex_op_write.sum"]
TIMES = ["gpu__time_duration.sum", "sm__cycles_elapsed.max"]
SHOWN = ["smsp__inst_issued.sum", "l1tex__t_sectors.sum", "lts__t_requests_srcunit_tex.sum", "lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum",
         "lts__t_sectors_srcunit_tex_lookup_hit.sum", "dram__bytes_read.sum", "dram__bytes_write.sum"]
TIME_SHARE = 0.05
LONG_ENOUGH_NS = 15000
FULL_SIZE = 25
KERNELS = range(6, 11)  # dispatches: the second round


def spread(values):
    low, high = min(values), max(values)
    return f"{low:.7g}" if low == high else f"{low:.7g}..{high:.7g}"


def difference(ours, theirs):
    middle = statistics.median(theirs)
    return (statistics.median(ours) - middle) / middle if middle else 0.0


def collect(build, repeats, size, check):
    program = [build / "tests/cuda/five", str(size)]
    metrics = COUNTS + TIMES + SHOWN
    ours, theirs, names = {}, {}, {}
    for _ in range(repeats):
        for place, value in ncu_values(program, metrics).items():
            theirs.setdefault(place, []).append(value)
        run = Run(build, [metrics], program)
        for place, value in run.values().items():
            ours.setdefault(place, []).append(value)
        names = {o[5]: o[0].lstrip("_Z0123456789") for o in run.outcomes()}
        check(run.status == 0 and len(names) == 10, f"five: {len(names)} dispatches {run.err[-300:] if run.status else ''}")
        run.close()
    again = ncu_values(program, metrics, "--replay-mode", "application")
    return ours, theirs, again, names


def compare_values(build, repeats, check, size=FULL_SIZE):
    ours, theirs, again, names = collect(build, repeats, size, check)
    unequal = set()
    for metric in COUNTS + TIMES + SHOWN:
        print(f"{metric}")
        for dispatch in KERNELS:
            a, b = ours.get((dispatch, metric), []), theirs.get((dispatch, metric), [])
            c = again.get((dispatch, metric))
            where = f"{metric} of {names.get(dispatch, dispatch)}"
            if len(a) != repeats or len(b) != repeats:
                check(False, f"{where}: kreplay {a}, ncu {b}")
                continue
            apart = difference(a, b)
            right = True
            if metric in COUNTS:
                right = len(set(a + b)) == 1
                unequal |= set() if right else {metric}
            elif metric == "gpu__time_duration.sum" and size == FULL_SIZE:
                right = abs(apart) <= TIME_SHARE and statistics.median(b) >= LONG_ENOUGH_NS
            print(f"    {names.get(dispatch, '')[:14]:14} kreplay {spread(a):>24} ncu {spread(b):>24} {100 * apart:+8.2f} %"
                  f"   ncu, program again {c if c is None else f'{c:.7g}'}"
                  + ("" if right else " !"))
            if not right:
                check(False, f"{where}: kreplay {a}, ncu {b}")
    print(f"{len(COUNTS) - len(unequal)} of {len(COUNTS)} counts equal in every run of both")


def main():
    failures = []

    def check(holds, text):
        if not holds:
            print("FAILED  " + text, flush=True)
            failures.append(text)

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--size", type=int, default=FULL_SIZE, help="binary logarithm of the elements")
    options = parser.parse_args()
    compare_values(options.build, options.repeats, check, options.size)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
