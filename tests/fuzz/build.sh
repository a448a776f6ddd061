#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the fuzz targets with clang in a folder of their own.   build.sh FOLDER CLANG TARGET...
# Little optimised: what is not under test is linked too, and would take longer to compile than it saves.
set -eu
folder=$1
compiler=$2
shift 2
cd "$(dirname "$0")/../.."
cmake -G Ninja -S . -B "$folder" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS=-O1 \
    -DKREPLAY_FUZZ=ON -DKREPLAY_EXAMPLES=OFF
cmake --build "$folder" --target $(printf 'fuzz_%s ' "$@")
