# SPDX-License-Identifier: MIT
# bash completion of kreplay. What there is comes from the command itself, so that this file knows no option by name.
_kreplay() {
    local command=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local verb=run word='' option='' i
    local verbs
    verbs="run $("$command" --help 2>/dev/null | sed -n 's/^ *\(usage: \)\{0,1\}kreplay \([a-z]*\) .*/\2/p')"
    [[ " $(echo $verbs) " == *" ${COMP_WORDS[1]} "* ]] && verb=${COMP_WORDS[1]}
    for ((i = 1; i < COMP_CWORD; i++)); do # behind -- stands the program
        if [[ ${COMP_WORDS[i]} == -- ]]; then
            COMPREPLY=($(compgen -c -f -- "$current"))
            return
        fi
        [[ ${COMP_WORDS[i]} == -?* ]] && option=${COMP_WORDS[i]}
    done
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "-- $("$command" "$verb" --help 2>/dev/null | grep -Eo -- '^  (-., )?--[a-z-]+' | grep -Eo -- '--[a-z-]+')" -- "$current"))
    elif [[ $option == --pmc ]]; then # names go on until the next option
        COMPREPLY=($(compgen -W "$("$command" list 2>/dev/null | grep -Eo '^[A-Za-z][A-Za-z0-9_]+ ')" -- "$current"))
    elif [[ $previous == --* ]]; then
        # Words to choose from, as help writes them: --log-level fatal|error|...
        word=$("$command" "$verb" --help 2>/dev/null | sed -n "s/^  \(-., \)\{0,1\}$previous \([a-z0-9]*|[a-z0-9|]*\).*/\2/p")
        COMPREPLY=($(if [[ -n $word ]]; then compgen -W "${word//|/ }" -- "$current"; else compgen -f -- "$current"; fi))
    elif ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "$verbs" -- "$current"))
    else
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}
complete -F _kreplay kreplay
