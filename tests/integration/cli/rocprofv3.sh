#!/bin/sh
# SPDX-License-Identifier: MIT
# kreplay called rocprofv3: the rows of docs/parity.md that need no GPU. The program notes its groups, a line a run.
. "$(dirname "$0")/lib.sh"
unset KREPLAY_REPLAY_MODE KREPLAY_KERNEL_REPLAY_BETA_ENABLED KREPLAY_COMPAT ROCPROF_OUTPUT_PATH ROCPROF_OUTPUT_FILE_NAME
ln -s "$KREPLAY" rocprofv3
waves="--pmc SQ_WAVES" valu="--pmc SQ_INSTS_VALU"
kernel="--replay-mode kernel --kernel-replay-beta-enabled"

# runs ARGUMENT...: the program under rocprofv3; what it noted is in the file runs.
runs() {
    rm -f runs
    ./rocprofv3 --soft-gpu -d D -o out "$@" -- sh -c 'echo "$KREPLAY_PMC" >>runs' >stdout 2>stderr
    runs_status=$?
    [ $runs_status -eq 0 ] || fail "rocprofv3 $*: exit status $runs_status: $(cat stderr)"
    [ -s stdout ] && fail "rocprofv3 $*: standard output: $(cat stdout)"
    return 0
}

# noted WHAT LINE...: the groups of the runs.
noted() {
    noted_what=$1
    shift
    printf '%s\n' "$@" >expected
    cmp -s expected runs || fail "$noted_what: groups of the runs: $(cat runs 2>&1)"
}

# fatal WHAT TEXT ARGUMENT...: one line in rocprofv3's form that holds TEXT, exit status 1, no program.
fatal() {
    fatal_what=$1 fatal_text=$2
    shift 2
    rm -f started
    ./rocprofv3 --soft-gpu "$@" -- touch started >stdout 2>stderr
    fatal_status=$?
    [ $fatal_status -eq 1 ] || fail "$fatal_what: exit status $fatal_status"
    [ "$(wc -l <stderr)" -eq 1 ] || fail "$fatal_what: not one line: $(cat stderr)"
    grep -q '^\[rocprofv3\] Fatal error: ' stderr || fail "$fatal_what: form: $(cat stderr)"
    grep -qF -- "$fatal_text" stderr || fail "$fatal_what: no \"$fatal_text\" in: $(cat stderr)"
    [ -s stdout ] && fail "$fatal_what: standard output"
    [ -e started ] && fail "$fatal_what: the program was started"
    return 0
}

runs $waves $valu
noted A9.1-default SQ_WAVES SQ_INSTS_VALU
runs --replay-mode application $waves $valu
noted A9.1-application SQ_WAVES SQ_INSTS_VALU
runs $kernel $waves $valu
noted A9.1-kernel 'SQ_WAVES;SQ_INSTS_VALU'

runs --kernel-replay-beta-enabled $waves $valu
noted A9.2-alone SQ_WAVES SQ_INSTS_VALU
for word in y yes t true on 1 YES; do
    runs --replay-mode kernel --kernel-replay-beta-enabled $word $waves $valu
    noted "A9.2-$word" 'SQ_WAVES;SQ_INSTS_VALU'
done
rm -f started
./rocprofv3 --soft-gpu --kernel-replay-beta-enabled maybe $waves -- touch started 2>stderr && fail "A9.2-maybe: accepted"
grep -q 'neither true nor false' stderr || fail "A9.2-maybe: $(cat stderr)"
[ -e started ] && fail "A9.2-maybe: started"

fatal A9.3 --kernel-replay-beta-enabled --replay-mode kernel $waves
for word in n no f false off 0; do
    fatal "A9.3-$word" --kernel-replay-beta-enabled --replay-mode kernel --kernel-replay-beta-enabled $word $waves
done
fatal A9.4 'needs counters' $kernel
# what comes from the environment is checked like what is typed
KREPLAY_REPLAY_MODE=kernel fatal A9.5 --kernel-replay-beta-enabled $waves

# everything else that forbids the start, and the same by option and variable
fatal A9.6-program 'not found' $waves --compat rocprofv3 -- no-such-program
fatal A9.6-counter 'unknown counter' --pmc SQ_WAVEZ
./rocprofv3 --soft-gpu $waves >stdout 2>stderr
status=$?
[ $status -eq 1 ] && grep -qx '\[rocprofv3\] Fatal error: No application provided.*' stderr ||
    fail "A9.6-none: $status $(cat stderr)"
"$KREPLAY" --compat rocprofv3 --soft-gpu --replay-mode kernel $waves -- touch started 2>stderr
status=$?
[ $status -eq 1 ] && grep -q '^\[rocprofv3\] Fatal error: ' stderr || fail "A9.6-compat: $status $(cat stderr)"
KREPLAY_COMPAT=rocprofv3 "$KREPLAY" --soft-gpu --replay-mode kernel $waves -- touch started 2>stderr
[ $? -eq 1 ] || fail "A9.6-environment: $(cat stderr)"
./rocprofv3 --compat kreplay --soft-gpu --replay-mode kernel $waves -- sh -c 'echo "$KREPLAY_PMC" >runs' 2>stderr
[ $? -eq 0 ] || fail "--compat kreplay under the name rocprofv3: $(cat stderr)"

rm -rf D
runs $kernel $waves
noted A9.14 SQ_WAVES
[ -e D/pass_1 ] && fail "A9.14: a pass folder for one group"
runs $waves
noted A9.15-one SQ_WAVES
[ -e D/pass_1 ] && fail "A9.15: a pass folder for one group"

all="SQ_WAVES SQ_INSTS_VALU SQ_INSTS_SALU SQ_INSTS_SMEM SQ_INSTS_LDS"
groups='' count=0
while [ $count -lt 32 ]; do
    for counter in $all; do
        count=$((count + 1))
        groups="$groups --pmc $counter"
        [ $count -eq 5 ] && {
            runs $groups
            noted A9.15-five $all
        }
        [ $count -eq 32 ] && break
    done
done
runs $groups
[ "$(wc -l <runs)" -eq 32 ] || fail "A9.15-many: $(wc -l <runs) runs"
runs $kernel $groups
[ "$(wc -l <runs)" -eq 1 ] && [ "$(tr ';' '\n' <runs | wc -l)" -eq 32 ] || fail "A9.13: $(cat runs)"

fatal A9.19 'is empty' $waves --pmc $valu
fatal A9.19-last 'is empty' $waves --pmc
runs --pmc # nothing to collect: the program runs alone
noted nothing ''
grep -q 'nothing to collect' stderr || fail "nothing to collect: $(cat stderr)"

ROCPROF_COUNTER_GROUPS_INTERVAL=2 runs $kernel $waves $valu
noted A9.20 'SQ_WAVES;SQ_INSTS_VALU'
ROCPROF_KERNEL_REPLAY=1 runs $waves $valu
noted A9.22 SQ_WAVES SQ_INSTS_VALU

# A9.21: options that are not there are refused, never ignored
for option in '--pid 1' '--collection-period 1:1:1'; do
    rm -f started
    ./rocprofv3 --soft-gpu $waves $option -- touch started 2>stderr && fail "$option: accepted"
    [ -e started ] && fail "$option: started"
done

# names from rocprofv3's variables; the option wins. The folders are those of the runs' files.
ROCPROF_OUTPUT_PATH=E ROCPROF_OUTPUT_FILE_NAME=sub/name ./rocprofv3 --soft-gpu $waves $valu -- \
    sh -c 'echo "$KREPLAY_RUN_DIR"' >stdout 2>/dev/null
printf '%s\n' "$(pwd -P)/E/pass_1/sub/name_run" "$(pwd -P)/E/pass_2/sub/name_run" >expected
cmp -s expected stdout || fail "names from the environment: $(cat stdout)"
ROCPROF_OUTPUT_PATH=E ./rocprofv3 --soft-gpu $waves -d F -o out -- sh -c 'echo "$KREPLAY_RUN_DIR"' >stdout 2>/dev/null
[ "$(cat stdout)" = "$(pwd -P)/F/out_run" ] || fail "the option wins: $(cat stdout)"

# the exit status is that of the first run that failed; the others follow all the same
./rocprofv3 --soft-gpu $waves $valu --pmc SQ_INSTS_SALU -- sh -c \
    'echo >>count; case $(wc -l <count) in 2) exit 7 ;; 3) exit 9 ;; esac' 2>/dev/null
status=$?
[ $status -eq 7 ] && [ "$(wc -l <count)" -eq 3 ] || fail "exit status $status after $(wc -l <count) runs"
# a signal that asks for the end ends the series
./rocprofv3 --soft-gpu $waves $valu -- sh -c 'echo >>begun; : >ready; while :; do sleep 0.05; done' 2>/dev/null &
while [ ! -e ready ]; do sleep 0.05; done
kill -TERM $!
wait $!
status=$?
[ $status -eq 143 ] && [ "$(wc -l <begun)" -eq 1 ] || fail "after SIGTERM: $status, $(wc -l <begun) runs"
finish
