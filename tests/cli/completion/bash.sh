eval "$(dpmf completion bash)"
# Files come as the directory lists them, so two or more of them are sorted.
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dpmf; echo "${COMPREPLY[*]}"; }
complete_files() { complete_words "$@" | tr ' ' '\n' | sort | paste -sd ' '; }
touch a.dpr b.csv
mkdir c
complete_words dpmf im
complete_words dpmf import --for
complete_words dpmf split --by ''
complete_words dpmf split --by = t
complete_files dpmf import -o ''
complete_files dpmf import ''
complete_files dpmf export a.dpr --csv ''
complete_words dpmf completion ''
complete_words dpmf synth --users ''
