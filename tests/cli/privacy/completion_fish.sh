command -v fish >/dev/null || { echo "no fish here"; exit 77; }
dpmf completion fish >dpmf.fish
fish --no-config -c \
    'source dpmf.fish; complete -C "dpmf privacy ac"; complete -C "dpmf privacy account --rel";
        complete -C "dpmf privacy plan --item-"'
