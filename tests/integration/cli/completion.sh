#!/bin/bash
# SPDX-License-Identifier: MIT
# What bash would offer. $1: the manual page, from whose folder the script is found.
sources=$(cd "$(dirname "$1")/../.." && pwd)
. "$(dirname "$0")/lib.sh"
. "$sources/docs/completion/kreplay.bash"

# offers EXPECTED WORD...: among what is offered for the last word is EXPECTED; with "!" before it, it is not.
offers() {
    local expected=$1 found
    shift
    COMP_WORDS=("$KREPLAY" "$@") COMP_CWORD=$# COMPREPLY=()
    _kreplay
    [[ " ${COMPREPLY[*]} " == *" ${expected#!} "* ]] && found=yes || found=no
    [[ $expected == !* ]] && found=$([[ $found == yes ]] && echo no || echo yes)
    [ "$found" = yes ] || fail "$* offers: ${COMPREPLY[*]}; expected $expected"
}
touch log.krlog
offers convert c
offers list l
offers --pmc --
offers -- -
offers --launch-count --launch-
offers --max-per-kernel run --max
offers '!--pmc' convert --
offers --input convert --in
offers --arch list --a
offers '!--arch' run --a
offers SQ_WAVES --pmc SQ_WA
offers GPUBusy --pmc SQ_WAVES GPU
offers trace --log-level tr
offers application --replay-mode a
offers '!fatal' --replay-mode ''
offers log.krlog convert -i log
offers sh --pmc SQ_WAVES -- s
finish
