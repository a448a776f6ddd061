# SPDX-License-Identifier: MIT
# For the scripts of this folder: $KREPLAY is the program under test. Each runs in a folder of its own.
set -u
unset KREPLAY_PMC KREPLAY_OUTPUT_FORMAT KREPLAY_OUTPUT_FILE KREPLAY_OUTPUT_DIRECTORY HSA_TOOLS_LIB
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    printf 'FAIL: %s\n' "$*"
    failures=$((failures + 1))
}

finish() {
    [ "$failures" -eq 0 ] && echo "all good"
    exit "$((failures > 0))"
}

# refused TEXT ARGUMENT...: kreplay with these arguments and `-- touch started` exits with 2, says one line that begins
# with "kreplay: " and holds TEXT, writes nothing to its standard output and starts nothing.
refused() {
    refused_text=$1
    shift
    rm -f started
    "$KREPLAY" "$@" >stdout 2>stderr
    refused_status=$?
    [ "$refused_status" -eq 2 ] || fail "kreplay $*: exit status $refused_status"
    [ "$(wc -l <stderr)" -eq 1 ] || fail "kreplay $*: not one line: $(cat stderr)"
    grep -q '^kreplay: ' stderr || fail "kreplay $*: no prefix: $(cat stderr)"
    grep -qF -- "$refused_text" stderr || fail "kreplay $*: no \"$refused_text\" in: $(cat stderr)"
    [ -s stdout ] && fail "kreplay $*: standard output: $(cat stdout)"
    [ -e started ] && fail "kreplay $*: the program was started"
    return 0
}
