# SPDX-License-Identifier: MIT
"""Usage: test_inside.py PROGRAM. Runs inside of the Debian 13 folder: compiles a program with the compiler there, runs it on
the software GPU, then under kreplay with five counter groups. Each dispatch must be replayed five times, and SQ_WAVES, which is in
every group, be the same each time; the table says which programs' kernels are declined."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path("/kreplay")
GROUPS = [f"SQ_WAVES {c}" for c in ("SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_LDS", "GRBM_COUNT")]
DECLINED = {"device_printf": "unsafe_kernel", "functions": "unsafe_kernel", "managed_memory": "host_memory"}
LIMIT_S = 600


def run(*command):
    result = subprocess.run([str(c) for c in command], text=True, capture_output=True, timeout=LIMIT_S, check=False)
    if result.returncode != 0:
        sys.exit(f"{command}: exit status {result.returncode}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def check_replay(name, process):
    counters = {c["id"]["handle"]: c["name"] for c in process["counters"]}
    waves = {}
    for record in process["callback_records"]["counter_collection"]:
        values = [r["value"] for r in record["records"] if counters[r["counter_id"]["handle"]] == "SQ_WAVES"]
        waves.setdefault(record["dispatch_data"]["dispatch_info"]["dispatch_id"], []).append(sum(values))
    dispatches = process["kreplay"]["dispatches"]
    assert dispatches, "no dispatches"
    for d in dispatches:
        if d["outcome"] == "declined" and d["reason"] == DECLINED.get(name):
            continue
        assert d["outcome"] == "replayed" and d["executed_passes"] == len(GROUPS), d
        seen = waves[d["dispatch_id"]]
        assert len(seen) == len(GROUPS) and len(set(seen)) == 1 and seen[0] > 0, seen


def main():
    name = sys.argv[1]
    program = HERE / "programs" / name
    libraries = ["-lrocblas"] if name == "sgemm" else []
    run("hipcc", "--offload-arch=gfx90a", "-O2", "-std=c++17", f"-I{HERE}/sources", HERE / "sources" / f"{name}.cpp",
        *libraries, "-o", program)
    run(HERE / "bin/softgpu-run", "--", program)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        groups = [word for group in GROUPS for word in ["--pmc", *group.split()]]
        run(HERE / "bin/kreplay", "run", *groups, "--soft-gpu", "--output-format", "json", "-d", folder, "-o", "out", "--",
            program)
        check_replay(name, json.loads((pathlib.Path(folder) / "out_results.json").read_text())["rocprofiler-sdk-tool"][0])
    print(f"{name}: ok")


main()
