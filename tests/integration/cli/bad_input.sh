#!/bin/sh
# SPDX-License-Identifier: MIT
# Everything that kreplay refuses before it starts a program.
. "$(dirname "$0")/lib.sh"
good="--soft-gpu --pmc SQ_WAVES"

refused 'no program given' $good
refused 'no program given' $good --
refused 'no program given'
refused 'program no-such-program not found in PATH' $good -- no-such-program
refused 'program ./no-such-program not found' $good -- ./no-such-program
echo data >data
refused 'program ./data cannot be run' $good -- ./data
chmod +x data
printf '\000\001' >data
refused 'program ./data cannot be run' $good -o out -- ./data
[ -e out_run ] && fail "the folder of a run that never was is left"

refused 'unknown counter "SQ_WAVEZ"' --soft-gpu --pmc SQ_WAVEZ -- touch started
refused 'SQ_WAVES' --soft-gpu --pmc SQ_WAVEZ -- touch started # a near name
refused 'kernel replay needs counters' --soft-gpu -- touch started
refused 'kernel replay needs counters' --soft-gpu --replay-mode kernel -- touch started
refused 'kernel replay needs counters' --soft-gpu --kernel-replay-beta-enabled --replay-mode kernel -- touch started

refused 'application replay needs counters' --soft-gpu --replay-mode application -- touch started

# a group that does not fit: block, registers and counters
grbm="GRBM_COUNT GRBM_GUI_ACTIVE GRBM_CP_BUSY"
for word in GRBM 2 $grbm; do
    refused "$word" --soft-gpu --strict-groups --pmc SQ_WAVES --pmc $grbm -- touch started
done
refused 'counter TCC_PROBE exists on gfx90a but is not modelled by the software GPU' \
    --soft-gpu --pmc TCC_PROBE -- touch started

refused '--kernel-include-regex: "a(" is not' $good --kernel-include-regex 'a(' -- touch started
refused '--kernel-exclude-regex: "[b" is not' $good --kernel-exclude-regex '[b' -- touch started
refused '--kernel-name: "(" is not' $good -k 'regex:(' -- touch started
refused '--kernel-iteration-range: "[0]" is not' $good --kernel-iteration-range '[0]' -- touch started
refused 'unknown value "short"' $good --kernel-name-base short -- touch started
refused '"-1" is not a number' $good --launch-count=-1 -- touch started
refused 'unknown value "xml"' $good -f xml -- touch started
refused 'unknown option --nonsense' $good --nonsense -- touch started
refused 'neither true nor false' $good --kernel-replay-beta-enabled maybe -- touch started
refused 'write -- before the program' $good --soft-gpu yes touch started
refused 'write -- before the program' $good --soft-gpu ./data
refused 'write -- before the program' --soft-gpu --pmc SQ_WAVES ./data
refused 'give the input with -i' convert x.db
refused '--pmc needs a value' --soft-gpu --pmc -- touch started
KREPLAY_OUTPUT_FORMAT=xml refused 'KREPLAY_OUTPUT_FORMAT' $good -- touch started

: >plain
refused 'cannot write to folder plain' $good -d plain -- touch started
refused 'cannot write to folder /proc/kreplay-test' $good -d /proc/kreplay-test -- touch started
if [ "$(id -u)" -ne 0 ]; then # root writes everywhere
    mkdir locked && chmod a-w locked
    refused 'cannot write to folder locked' $good -d locked -- touch started
fi

if ! grep -qs 'gfx_target_version [1-9]' /sys/class/kfd/kfd/topology/nodes/*/properties; then
    refused 'no AMD GPU on this machine' --pmc SQ_WAVES -- touch started
fi

refused 'no input given' convert
refused 'cannot read no.db' convert -i no.db
refused 'no record log' convert -i .
refused 'no counter catalogue for gfx1' list --arch gfx1
finish
