#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch and Triton programs, plain and under kreplay: the same results to the last digit, most kernels replayed, and
what is not is declined for a reason that is expected of it. Usage: frameworks.py BUILD"""
import collections
import os
import pathlib
import subprocess
import sys

from profiled import Run

HERE = pathlib.Path(__file__).parent
PMC = [["smsp__inst_executed.sum", "smsp__warps_launched.sum", "gpu__time_duration.sum"], ["lts__t_sectors.sum"]]
# program, environment, reasons that kernels may be declined for, is anything replayed
CASES = [
    (["torch_ops.py"], {}, {"untracked_memory"}, True),  # one reduction: see its argument, printed below
    (["torch_ops.py", "graph"], {}, {"untracked_memory", "stream_capture", "unknown_packet"}, True),
    (["torch_ops.py"], {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}, {"untracked_memory"}, False),
    (["triton_ops.py"], {}, set(), True),
]


def main():
    build, failures = pathlib.Path(sys.argv[1]).resolve(), 0
    for (script, *arguments), extra, allowed, replayed in CASES:
        command = [sys.executable, HERE / script, *arguments]
        name = " ".join([script, *arguments, *extra.values()])
        plain = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **extra})
        run = Run(build, PMC, command, extra)
        seen = collections.Counter(f"{kind}:{reason}" for _, kind, reason, *_ in run.outcomes())
        reasons = {reason for _, kind, reason, *_ in run.outcomes() if kind == "declined"}
        values = run.values()
        checks = {
            "plain run is right": plain.returncode == 0,
            "the same status and results": run.status == 0 and run.out == plain.stdout,
            "reasons as expected": reasons <= allowed,
            "replayed as expected": (seen["replayed:none"] > 0) == replayed,
            "all counters there": all((o[5], m) in values for o in run.outcomes() if o[1] == "replayed" for m in sum(PMC, [])),
        }
        for what, holds in checks.items():
            failures += not holds
            if not holds:
                print(f"FAILED  {name}: {what}")
        print(f"{'ok     ' if all(checks.values()) else 'FAILED '} {name}: {dict(seen)}, {run.seconds:.1f} s", flush=True)
        print("".join([f"        {line}\n" for line in run.err.splitlines() if " is not replayed: " in line][:2]), end="")
        if not all(checks.values()):
            print(plain.stdout, plain.stderr[-800:], run.out, run.err[-2500:], sep="\n")
        run.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
