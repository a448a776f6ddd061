#!/bin/sh
# SPDX-License-Identifier: MIT
# Help, version, list, and that the manual page knows every option. $1: the page.
page=$1
. "$(dirname "$0")/lib.sh"
"$KREPLAY" --version | grep -Eqx 'kreplay [0-9]+\.[0-9]+\.[0-9]+' || fail "version"
"$KREPLAY" --help >help 2>stderr || fail "help: exit status"
[ -s stderr ] && fail "help: standard error"
{ "$KREPLAY" convert --help; "$KREPLAY" list -h; } >>help
for option in $(grep -Eo -- '--[a-z][a-z-]+' help | sort -u); do
    tr -d '\\' <"$page" | grep -qF -- "${option#--}" || fail "$option is not in the manual page"
done
"$KREPLAY" list --arch gfx90a >list || fail "list: exit status"
grep -Eq '^SQ_WAVES +SQ +4$' list || fail "list: SQ_WAVES"
grep -Eq '^SQ +8$' list || fail "list: registers of SQ"
finish
