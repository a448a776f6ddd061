#!/bin/sh
# SPDX-License-Identifier: MIT
# Everything that needs a GPU: versions, the list of metrics, the test programs, values against ncu, PyTorch and
# Triton, compute-sanitizer.
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

python3 "$here/frameworks.py" "$build" || status=1

# kreplay steps aside under compute-sanitizer. Looked at are its own kernels alone (tests/cuda/blocks), and the programs, so
# that a check of theirs that fails under kreplay is not a fault of theirs.
sanitize() {
    if timeout 120 compute-sanitizer --tool "$2" --error-exitcode 9 "$build/tests/cuda/$1" >/tmp/sanitizer.txt 2>&1; then
        echo "ok      compute-sanitizer, $2: $1 is clean"
    else
        echo "FAILED  compute-sanitizer, $2: $1: $(tail -3 /tmp/sanitizer.txt)"
        status=1
    fi
}
"$build/tests/cuda/blocks" || status=1
for tool in memcheck racecheck initcheck; do
    sanitize blocks $tool
done
for name in inplace global streams threads cooperative; do
    sanitize $name memcheck
done
exit $status
