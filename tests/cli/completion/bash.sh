eval "$(dpmf completion bash)"
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dpmf; echo "${COMPREPLY[*]}"; }
touch a.dpr b.csv
mkdir c
complete_words dpmf im
complete_words dpmf import --for
complete_words dpmf split --by ''
complete_words dpmf split --by = t
complete_words dpmf import -o ''
complete_words dpmf import ''
complete_words dpmf export a.dpr --csv ''
complete_words dpmf completion ''
complete_words dpmf synth --users ''
