#!/bin/sh
# SPDX-License-Identifier: MIT
# softgpu-run: exit statuses, environment, messages. Argument: the script to test, in its build tree.
run=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0

# expect STATUS TEXT COMMAND...: the command's exit status, and a text in its output (both streams).
expect() {
    status=$1 text=$2
    shift 2
    output=$("$@" 2>&1)
    got=$?
    case $output in
    *"$text"*) [ "$got" -eq "$status" ] && return ;;
    esac
    echo "FAILED: $*: status $got (expected $status), output: $output (expected in it: $text)"
    failures=$((failures + 1))
}

expect 0 "Usage: softgpu-run" "$run" --help
expect 0 "Usage: softgpu-run" "$run" -h
expect 2 "no program given" "$run"
expect 2 "no program given" "$run" --
expect 2 "unknown option --gpu" "$run" --gpu true
expect 127 "no-such-program: not found" "$run" no-such-program
expect 127 "$tmp/none: no such file" "$run" "$tmp/none"
echo 'exit 1' >"$tmp/plain"
expect 126 "$tmp/plain: cannot be executed" "$run" "$tmp/plain"
expect 126 "is a directory" "$run" "$tmp"
expect 0 "" "$run" true
expect 1 "" "$run" false
expect 7 "" "$run" -- sh -c 'exit 7'
expect 143 "" sh -c "$run sh -c 'kill -TERM \$\$'"
expect 0 "[a b][][c]" "$run" sh -c 'printf "[%s]" "$@"' - "a b" "" c
expect 0 "/lib/softgpu" "$run" sh -c 'echo "$LD_LIBRARY_PATH"'
expect 0 "/lib/softgpu:/mine" env LD_LIBRARY_PATH=/mine "$run" sh -c 'echo "$LD_LIBRARY_PATH"'

# Only rocminfo gets the shim, and a preload of the user's own stays.
printf '#!/bin/sh\necho "preload=$LD_PRELOAD"\n' >"$tmp/rocminfo"
cp "$tmp/rocminfo" "$tmp/other"
chmod +x "$tmp/rocminfo" "$tmp/other"
expect 0 "libsoftgpu-rocminfo.so" "$run" "$tmp/rocminfo"
expect 0 "libsoftgpu-rocminfo.so" env PATH="$tmp:$PATH" "$run" rocminfo
case $("$run" "$tmp/other") in
*rocminfo.so*)
    echo "FAILED: the shim is preloaded into other programs"
    failures=$((failures + 1))
    ;;
esac

# Called through a link it still finds its libraries; without them it says so.
ln -s "$run" "$tmp/link"
expect 0 "/lib/softgpu" "$tmp/link" sh -c 'echo "$LD_LIBRARY_PATH"'
mkdir -p "$tmp/bin" "$tmp/lib/softgpu"
cp "$run" "$tmp/bin/softgpu-run"
expect 2 "libhsakmt.so.1 is missing" "$tmp/bin/softgpu-run" true
rmdir "$tmp/lib/softgpu"
expect 2 "there is no folder" "$tmp/bin/softgpu-run" true

[ "$failures" -eq 0 ] && echo "softgpu-run: all right"
exit "$((failures > 0))"
