eval "$(dpmf completion bash)"
complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dpmf; echo "${COMPREPLY[*]}"; }
complete_words dpmf privacy ''
complete_words dpmf privacy ac
complete_words dpmf privacy account --re
complete_words dpmf privacy plan --item
complete_words dpmf privacy account --epsilon ''
