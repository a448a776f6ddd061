#!/bin/sh
# SPDX-License-Identifier: MIT
# Everything that needs a GPU: versions, the list of metrics, the test programs, values against ncu, compute-sanitizer.
# Usage: tests/cuda/run_device.sh BUILD     (BUILD has bin/, lib/ and tests/cuda/ with the programs)
build=${1:?usage: run_device.sh BUILD}
here=$(dirname "$0")
status=0

nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.sm,clocks.mem --format=csv,noheader
nvcc --version 2>/dev/null | grep release
ncu --version 2>/dev/null | tail -1

"$build/bin/kreplay" list >/tmp/kreplay-list.txt || status=1
echo "kreplay list: $(wc -l </tmp/kreplay-list.txt) lines, $(head -1 /tmp/kreplay-list.txt)"
"$build/bin/kreplay" --pmc smsp__inst_executed.summ -- /bin/true
[ $? -eq 2 ] || { echo "FAILED  a misspelled metric was not refused"; status=1; }

python3 "$here/device_tests.py" "$build" || status=1

for name in inplace global streams threads cooperative; do
    if timeout 120 compute-sanitizer --error-exitcode 9 "$build/tests/cuda/$name" >/tmp/sanitizer.txt 2>&1; then
        echo "ok      compute-sanitizer: $name is clean"
    else
        echo "FAILED  compute-sanitizer: $name: $(tail -3 /tmp/sanitizer.txt)"
        status=1
    fi
done
exit $status
