command -v zsh >/dev/null || { echo "no zsh here"; exit 77; }
dpmf completion zsh >_dpmf
zsh -fn _dpmf && zsh -fc \
    'autoload -U compinit; compinit -u -d ./dump; source ./_dpmf; print $_comps[dpmf]'
zsh -fc 'fpath=($PWD $fpath); autoload -U compinit; compinit -u -d ./dump2; print $_comps[dpmf]'
