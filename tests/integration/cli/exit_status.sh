#!/bin/sh
# SPDX-License-Identifier: MIT
# The program's exit status and output come through unchanged, whatever kreplay has to say.
. "$(dirname "$0")/lib.sh"
run() { "$KREPLAY" --soft-gpu --pmc SQ_WAVES -o out -- "$@" >stdout 2>stderr; }

for wanted in 0 1 2 7 255; do
    run sh -c "echo text; exit $wanted"
    status=$?
    [ $status -eq $wanted ] || fail "exit status $status instead of $wanted"
    [ "$(cat stdout)" = text ] || fail "standard output is not the program's: $(cat stdout)"
done
grep -q 'nothing to write' stderr || fail "a program without GPU: $(cat stderr)"

run sh -c 'kill -KILL $$'
status=$?
[ $status -eq 137 ] || fail "exit status $status instead of 137"
grep -q '^kreplay: the program was ended by signal 9 (Killed)$' stderr || fail "how it ended: $(cat stderr)"
run sh -c 'kill -SEGV $$'
status=$?
[ $status -eq 139 ] || fail "exit status $status instead of 139"

# whoever starts kreplay may ignore SIGCHLD: the status still comes, and the program inherits what it would have
with_chld() { timeout 20 env "--$1-signal=CHLD" "$KREPLAY" --soft-gpu --pmc SQ_WAVES -o out -- "$2" "$3" "$4" >stdout 2>stderr; }
for action in default ignore; do
    with_chld $action sh -c 'exit 7'
    status=$?
    [ $status -eq 7 ] || fail "SIGCHLD $action: exit status $status instead of 7: $(cat stderr)"
    with_chld $action grep SigIgn /proc/self/status
    env --$action-signal=CHLD grep SigIgn /proc/self/status | cmp -s - stdout ||
        fail "SIGCHLD $action: the program has $(cat stdout)"
done

# a signal to kreplay is the program's
"$KREPLAY" --soft-gpu --pmc SQ_WAVES -o out -- sh -c 'trap "exit 5" TERM; echo > ready; while :; do sleep 0.05; done' \
    2>stderr &
while [ ! -e ready ]; do sleep 0.05; done
kill -TERM $!
wait $!
status=$?
[ $status -eq 5 ] || fail "after SIGTERM: exit status $status instead of 5: $(cat stderr)"

# what the program finds in its environment
HSA_TOOLS_LIB=other.so LD_LIBRARY_PATH=/mine run env
grep -q '^HSA_TOOLS_LIB=other\.so .*/libkreplay\.so$' stdout || fail "HSA_TOOLS_LIB: $(grep HSA_TOOLS_LIB stdout)"
grep -q '^LD_LIBRARY_PATH=.*/lib.*/softgpu:/mine$' stdout || fail "LD_LIBRARY_PATH: $(grep LD_LIBRARY stdout)"
for line in HSA_TOOLS_ROCPROFILER_V1_TOOLS=1 ROC_ENABLE_LARGE_BAR=0 KREPLAY_PMC=SQ_WAVES \
    "KREPLAY_RUN_DIR=$(pwd -P)/out_run"; do
    grep -qxF "$line" stdout || fail "no $line"
done
grep -q '^KREPLAY_RUN_ID=[1-9][0-9]*$' stdout || fail "KREPLAY_RUN_ID: $(grep KREPLAY_RUN_ID stdout)"
ROC_ENABLE_LARGE_BAR=1 run env
grep -qx ROC_ENABLE_LARGE_BAR=1 stdout || fail "ROC_ENABLE_LARGE_BAR is the user's"
KREPLAY_PMC='SQ_WAVES;SQ_BUSY_CYCLES,GRBM_COUNT' "$KREPLAY" --soft-gpu -o out -- env >stdout 2>stderr
grep -qx 'KREPLAY_PMC=SQ_WAVES;SQ_BUSY_CYCLES GRBM_COUNT' stdout || fail "KREPLAY_PMC: $(grep KREPLAY_PMC stdout)"

[ -z "$(ls -d out* 2>/dev/null)" ] || fail "left behind: $(ls -d out*)"
finish
