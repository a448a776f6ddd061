#!/bin/sh
# SPDX-License-Identifier: MIT
# An installation in another place works by itself: the command finds its libraries, the software GPU is there, and a tool author
# finds header and library through pkg-config. Usage: test_install.sh BUILD_FOLDER SOURCE_FOLDER
set -eu
build=$1
source=$2
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$prefix" >"$prefix/install.log" || fail "cmake --install: $(cat "$prefix/install.log")"
cd "$prefix"

bin/kreplay --version | grep -q '^kreplay [0-9]' || fail "the installed command does not tell its version"
find . -name kreplay.1 | grep -q . || fail "no manual page"
find . -name softgpu-run.1 | grep -q . || fail "no manual page of softgpu-run"
soname=$(find . -name 'libkreplay.so.0' | head -n 1)
[ -n "$soname" ] || fail "no libkreplay.so.0"

if [ -x "$build/examples/in_place" ]; then
    bin/kreplay run --pmc SQ_WAVES --pmc SQ_INSTS_VALU --soft-gpu -f json -d out -o x -- "$build/examples/in_place" 4096 \
        >out.txt 2>err.txt || fail "the installed kreplay: $(cat out.txt err.txt)"
    grep -q PASS out.txt || fail "the program is wrong under the installed kreplay"
    grep -q '"replay_pass": *1' out/x_results.json || fail "no second pass in the output"
fi

# The least tool of the how-to page, built and loaded as that says.
if [ -x "$build/examples/in_place" ]; then
    sed -n '/^```c$/,/^```$/{/^```/d;p;}' "$source/docs/tools.md" >three.c
    cc -std=c17 -Wall -Wextra -Werror -Iinclude -shared -fPIC three.c -o three.so || fail "the how-to page's tool: no compile"
    bin/kreplay run --tool ./three.so --tool-only --soft-gpu -- "$build/examples/in_place" 4096 >out.txt 2>err.txt ||
        fail "the how-to page's tool: $(cat out.txt err.txt)"
    [ "$(grep -c 'add_in_place.*: 3 passes' err.txt)" = 3 ] || fail "the how-to page's tool does nothing: $(cat err.txt)"
fi

pc=$(dirname "$(find . -name kreplay.pc)")
# The prefix of a relocated installation is given by whoever relocated it.
export PKG_CONFIG_PATH="$prefix/$pc"
flags=$(pkg-config --define-variable=libdir="$prefix/$(dirname "$soname")" \
    --define-variable=includedir="$prefix/include" --cflags --libs kreplay)
cp "$source/tests/integration/install/tool.c" .
# shellcheck disable=SC2086
cc -std=c17 -Wall -Werror tool.c $flags -o tool || fail "a tool cannot be compiled with: $flags"
LD_LIBRARY_PATH="$prefix/$(dirname "$soname")" ./tool || fail "the tool is not taken"
